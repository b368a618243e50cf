import type { Dim } from '../../../core/dim.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import { completeAttributes } from '../../../ops/attributes.ts';
import { batchingOf } from '../../../ops/batching/batching-of.ts';
import { CORE_OPERATORS } from '../../../ops/core-operators.ts';
import { call, callFunction, func, global, tuple, variableOf } from '../../../compiler/ir/build.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type IfExpr,
  type MatchExpr,
  spanOf,
  type VarExpr,
} from '../../../compiler/ir/expr.ts';
import { GRADIENT, STOP_GRADIENT, VJP } from '../../../compiler/ir/gradient-operators.ts';
import { SCALAR_OPERATORS } from '../../../compiler/ir/scalar-operators.ts';
import { formatType, type Type } from '../../../compiler/ir/type.ts';
import { childrenOf, postOrder } from '../../../compiler/ir/visit.ts';
import { tensorTypeOf } from '../../apply.ts';
import { ArrayState } from '../../array-state.ts';
import { callSite } from '../../call-site.ts';
import { type Frame, Frame as FunctionFrame, inFrame } from '../../trace.ts';
import { callPlaceByPlace } from './call-place-by-place.ts';
import {
  allMapped,
  eitherFlags,
  exprOf,
  ExprGraph,
  fieldFlags,
  fieldOf,
  type Flags,
  type FunctionMapping,
  isAny,
  mappedType,
  type MappedValue,
} from './mapped-value.ts';

export interface MapperOptions {
  readonly functions: FunctionMapping;
  /** The frame in which the mapped values are used. */
  readonly frame: Frame;
  /** How many places there are along the mapped axis. */
  readonly size: Dim;
  /** The function, for messages, where it calls itself. */
  readonly recursion?: string | undefined;
  /** The mapper of the function around a closure. */
  readonly outer?: Mapper | undefined;
}

/** Maps expressions of one function over an axis: each becomes one that computes all places at once. */
export class Mapper {
  readonly #options: MapperOptions;
  readonly #values = new Map<Expr, MappedValue>();

  constructor(options: MapperOptions) {
    this.#options = options;
  }

  /** Sets the mapped value of a variable. */
  set(variable: VarExpr, value: MappedValue): void {
    this.#values.set(variable, value);
  }

  /** The body of a function, with what is wanted of its result mapped. */
  body(
    root: Expr,
    { type, wanted }: { readonly type: Type; readonly wanted?: Flags | undefined },
  ): { readonly body: Expr; readonly result: Flags } {
    const value = this.of(root);
    if (wanted === undefined) return { body: value.expr, result: value.flags };
    return { body: this.#raise(value, wanted, { type, at: root }), result: wanted };
  }

  of(root: Expr): MappedValue {
    const isNew = (expr: Expr): boolean =>
      expr.kind !== 'function' && this.#known(expr) === undefined;
    for (const expr of postOrder(root, isNew)) {
      if (this.#known(expr) === undefined) this.#values.set(expr, this.#map(expr));
    }
    return this.#get(root);
  }

  #known(expr: Expr): MappedValue | undefined {
    const { outer } = this.#options;
    return this.#values.get(expr) ?? (outer === undefined ? undefined : outer.#known(expr));
  }

  #get(expr: Expr): MappedValue {
    return this.#known(expr) ?? { expr, flags: false };
  }

  #map(expr: Expr): MappedValue {
    const same = { expr, flags: false };
    switch (expr.kind) {
      case 'tuple': {
        const fields = expr.fields.map((field) => this.#get(field));
        if (!fields.some(({ flags }) => isAny(flags))) return same;
        return {
          expr: tuple(fields.map((field) => field.expr)),
          flags: fields.map(({ flags }) => flags),
        };
      }
      case 'projection': {
        const whole = this.#get(expr.tuple);
        if (!isAny(whole.flags)) return same;
        return {
          expr: fieldOf(whole.expr, expr.index),
          flags: fieldFlags(whole.flags, expr.index),
        };
      }
      case 'if':
        return this.#dependsOnMapped(expr) ? this.#if(expr) : same;
      case 'match':
        return this.#dependsOnMapped(expr) ? this.#match(expr) : same;
      case 'call':
        return this.#call(expr);
      default:
        return same;
    }
  }

  #dependsOnMapped(expr: Expr): boolean {
    return childrenOf(expr).some((child) => isAny(this.#get(child).flags));
  }

  #call(expr: CallExpr): MappedValue {
    const { callee, args } = expr;
    if (callee.kind === 'call') return this.#derivative(expr, callee);
    const flags = args.map((arg) => this.#get(arg).flags);
    if (!flags.some(isAny)) return { expr, flags: false };
    if (callee.kind === 'operator') return this.#operator(expr, callee.name);
    if (callee.kind !== 'global') {
      throw this.#unsupported(expr, `a call of a ${callee.kind}`);
    }
    const { functions, size } = this.#options;
    const mapped = functions.of(callee.name, flags, size);
    const given = args.map((arg, i) => {
      const type = this.#typeOf(arg);
      return this.#raise(this.#get(arg), mapped.params[i] ?? false, { type, at: expr });
    });
    return { expr: callFunction(global(mapped.name), given, expr.span), flags: mapped.result };
  }

  #operator(expr: CallExpr, name: string): MappedValue {
    const values = expr.args.map((arg) => this.#get(arg));
    if (name === STOP_GRADIENT) {
      const [value] = values;
      if (value === undefined) throw new Error('internal: stop_gradient of nothing');
      return { expr: call(name, [value.expr], {}, expr.span), flags: value.flags };
    }
    if (SCALAR_OPERATORS.has(name)) throw this.#unsupported(expr, name);
    const op = CORE_OPERATORS.require(name);
    if (op.kind === 'dynamic') {
      throw this.#unsupported(expr, `${name}, whose result has another size at each place`);
    }
    const graph = this.#graph(expr);
    const types = expr.args.map((arg) => tensorTypeOf(this.#inference, arg));
    const inputs = values.map(({ expr: own, flags }, i) => ({
      tensor: graph.tensor(own),
      isMapped: flags === true,
      shape: types[i]?.shape ?? [],
    }));
    const { size, frame } = this.#options;
    const made = batchingOf(op)?.({
      name,
      inputs,
      attributes: completeAttributes(op, expr.attributes),
      output: tensorTypeOf(this.#inference, expr),
      size,
      graph: graph.builder,
    });
    if (made !== undefined) return { expr: exprOf(made), flags: true };
    const states = values.map((value) => {
      const type = tensorTypeOf(this.#inference, value.expr);
      return {
        state: new ArrayState({ expr: value.expr, type, frame }),
        isMapped: value.flags === true,
      };
    });
    const { attributes } = expr;
    return { expr: inFrame(frame, () => callPlaceByPlace(name, states, attributes)), flags: true };
  }

  /** The derivatives at all places are those of the mapped function, since no place depends on another. */
  #derivative(expr: CallExpr, callee: CallExpr): MappedValue {
    const operator = callee.callee.kind === 'operator' ? callee.callee.name : '';
    const values = expr.args.map((arg) => this.#get(arg));
    const functions = callee.args.map((arg) => {
      if (arg.kind === 'function') return arg;
      throw this.#unsupported(expr, `${operator} of a ${arg.kind}`);
    });
    const isMapped =
      values.some(({ flags }) => isAny(flags)) || functions.some((fn) => this.#reads(fn));
    if (!isMapped) return { expr, flags: false };
    const { size } = this.#options;
    const given = expr.args.map((arg) => {
      const type = this.#typeOf(arg);
      return this.#raise(this.#get(arg), allMapped(type), { type, at: expr });
    });
    const mapped = functions.map((fn) => this.#closure(fn));
    const name = operator === GRADIENT ? VJP : operator;
    if (operator === GRADIENT) {
      const [fn] = functions;
      const type = fn && tensorTypeOf(this.#inference, fn.body);
      const { builder } = this.#graph(expr);
      given.push(exprOf(builder.full([size], type?.dtype ?? 'float32', 1)));
    }
    return {
      expr: callFunction(call(name, mapped, {}, callee.span), given, expr.span),
      flags: allMapped(this.#typeOf(expr)),
    };
  }

  /** Returns true if a closure reads a value with the mapped axis. */
  #reads(fn: FunctionExpr): boolean {
    return postOrder(fn.body).some(
      (inner) => inner.kind === 'var' && isAny(this.#get(inner).flags),
    );
  }

  #closure(fn: FunctionExpr): FunctionExpr {
    const { frame, size, functions, recursion } = this.#options;
    const own = new FunctionFrame(frame.trace, { frame, isClosure: true });
    const mapper = new Mapper({ functions, frame: own, size, recursion, outer: this });
    const params = fn.params.map((param) => {
      if (param.type === undefined) throw new Error('internal: a parameter without type');
      const flags = allMapped(param.type);
      const variable = variableOf(param.name, mappedType(param.type, flags, size));
      mapper.set(param, { expr: variable, flags });
      return variable;
    });
    const type = this.#typeOf(fn.body);
    const { body } = mapper.body(fn.body, { type, wanted: allMapped(type) });
    return func(params, body);
  }

  #if(expr: IfExpr): MappedValue {
    const condition = this.#get(expr.condition);
    const [first, second] = [this.#get(expr.thenBranch), this.#get(expr.elseBranch)];
    const type = this.#typeOf(expr.thenBranch);
    if (condition.flags !== true) {
      const flags = eitherFlags(first.flags, second.flags);
      const at = { type, at: expr };
      const made: IfExpr = {
        ...expr,
        thenBranch: this.#raise(first, flags, at),
        elseBranch: this.#raise(second, flags, at),
      };
      return { expr: made, flags };
    }
    const { recursion } = this.#options;
    if (recursion !== undefined) {
      throw this.#unsupported(expr, `${recursion}, which goes on as its elements say`);
    }
    return this.#select(expr, condition.expr, [first, second]);
  }

  /** Both branches are computed, and each place takes its own. */
  #select(
    expr: IfExpr,
    condition: Expr,
    [first, second]: readonly [MappedValue, MappedValue],
  ): MappedValue {
    const types = [this.#typeOf(expr.thenBranch), this.#typeOf(expr.elseBranch)];
    const { size } = this.#options;
    const graph = this.#graph(expr);
    const choose = (a: Expr, b: Expr, [type, other]: readonly (Type | undefined)[]): Expr => {
      if (type?.kind === 'tuple') {
        const fields = type.fields.map((field, i) => {
          const same = other?.kind === 'tuple' ? other.fields[i] : undefined;
          return choose(fieldOf(a, i), fieldOf(b, i), [field, same]);
        });
        return tuple(fields);
      }
      if (type?.kind !== 'tensor') {
        throw this.#unsupported(expr, `If of ${type === undefined ? 'nothing' : formatType(type)}`);
      }
      const test = graph.builder.reshape(graph.tensor(condition), [
        size,
        ...type.shape.map(() => 1),
      ]);
      return exprOf(graph.builder.where(test, graph.tensor(a), graph.tensor(b)));
    };
    const all = types.map((type, i) => {
      const wanted = allMapped(type);
      return this.#raise(i === 0 ? first : second, wanted, { type, at: expr });
    });
    const [a = first.expr, b = second.expr] = all;
    return {
      expr: choose(a, b, types),
      flags: allMapped(types[0] ?? { kind: 'tuple', fields: [] }),
    };
  }

  #match(expr: MatchExpr): MappedValue {
    if (isAny(this.#get(expr.value).flags)) throw this.#unsupported(expr, 'match of mapped data');
    const values = expr.clauses.map(({ body }) => this.#get(body));
    const flags = values.reduce<Flags>((all, value) => eitherFlags(all, value.flags), false);
    const clauses = expr.clauses.map(({ pattern, body }) => {
      const type = this.#typeOf(body);
      return { pattern, body: this.#raise(this.#get(body), flags, { type, at: expr }) };
    });
    return { expr: { ...expr, clauses }, flags };
  }

  #raise(
    value: MappedValue,
    wanted: Flags,
    { type, at }: { readonly type: Type; readonly at: Expr },
  ): Expr {
    return this.#graph(at).raise(value, wanted, { type, size: this.#options.size });
  }

  get #inference() {
    return this.#options.frame.trace.inference;
  }

  #graph(at: Expr): ExprGraph {
    return new ExprGraph(this.#inference, spanOf(at));
  }

  #typeOf(expr: Expr): Type {
    return this.#inference.of(expr);
  }

  #unsupported(expr: Expr, got: string): UnsupportedError {
    return new UnsupportedError({
      where: formatSpan(spanOf(expr) ?? callSite(), 'vmap'),
      got: `${got}, under vmap`,
      expected: 'straight lines, If of arrays, and loops of a fixed count',
    });
  }
}
