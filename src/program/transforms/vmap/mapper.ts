import { exprOf } from '../../../compiler/inference/expr-tensor.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { UnsupportedError } from '../../../core/errors.ts';
import { completeAttributes } from '../../../ops/attributes.ts';
import { batchingOf } from '../../../ops/batching/batching-of.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import type { OpKind } from '../../../ops/define-op.ts';
import { isFloat } from '../../../ops/elementwise/number-dtypes.ts';
import {
  call,
  callFunction,
  func,
  global,
  stopGradient,
  tuple,
  variableOf,
} from '../../../compiler/ir/build.ts';
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
import { GRADIENT, STOP_GRADIENT, VJP } from '../../../compiler/ir/operators/gradient-operators.ts';
import { operatorName } from '../../../compiler/ir/operators/operator-name.ts';
import { SCALAR_OPERATORS } from '../../../compiler/ir/operators/scalar-operators.ts';
import { computeScopes, type Scope, type Scopes } from '../../../compiler/ir/walk/scopes.ts';
import { formatType, type TensorTypeNode, type Type } from '../../../compiler/ir/type.ts';
import { childrenOf, postOrder, rewrite, withChildren } from '../../../compiler/ir/walk/visit.ts';
import { tensorTypeOf } from '../../apply.ts';
import { ArrayState } from '../../array-state.ts';
import { callSite } from '../../call-site.ts';
import { type Frame, Frame as FunctionFrame, inFrame } from '../../trace.ts';
import { callPlaceByPlace } from './call-place-by-place.ts';
import {
  allMapped,
  eitherFlags,
  ExprGraph,
  fieldFlags,
  fieldOf,
  type Flags,
  type FunctionMapping,
  isAny,
  mappedType,
  type MappedValue,
} from './mapped-value.ts';

interface MapperOptions {
  readonly functions: FunctionMapping;
  /** The frame in which the mapped values are used. */
  readonly frame: Frame;
  /** How many places there are along the mapped axis. */
  readonly size: Dim;
  /** The mapper of what is around a closure or a branch. */
  readonly outer?: Mapper | undefined;
  /** Where the expressions of the function are computed. */
  readonly scopes: Scopes;
  /** The branch that is mapped; the whole function where absent. */
  readonly branch?: Scope | undefined;
  /** The places that take the branch, bool[size]; absent where all places count. */
  readonly mask?: Expr | undefined;
  /** In how many branches that some places take: default 0. */
  readonly depth?: number | undefined;
  /** Of a branch, whether any place takes it, bool[]. */
  readonly any?: Expr | undefined;
}

/**
 * Maps expressions of one function over an axis: each becomes one that computes all places at once.
 *
 * A branch that places take as their elements say is computed at all of them. What it computes at the others must not
 * get into derivatives, where zero times infinity is NaN. So a branch reads `where(mask, x, stop_gradient(x))` for
 * each x from around it: the same values, while cotangents of other places are replaced by zero.
 */
export class Mapper {
  readonly #options: MapperOptions;
  readonly #values = new Map<Expr, MappedValue>();

  constructor(options: MapperOptions) {
    this.#options = options;
  }

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
      if (this.#known(expr) === undefined && !this.#isOfBranch(expr)) {
        this.#values.set(expr, this.#map(expr));
      }
    }
    return this.#get(root);
  }

  /** Returns true for what only a branch of a mapped condition computes: it is mapped with that. */
  #isOfBranch(expr: Expr): boolean {
    const { scopes, branch = scopes.top } = this.#options;
    let scope: Scope | undefined = scopes.of(expr);
    for (; scope !== undefined && scope !== branch; scope = scope.parent) {
      const { opener } = scope;
      if (opener?.kind === 'if' && isAny(this.#get(opener.condition).flags)) return true;
    }
    return false;
  }

  #known(expr: Expr): MappedValue | undefined {
    const own = this.#values.get(expr);
    const { outer, branch } = this.#options;
    if (own !== undefined || outer === undefined) return own;
    const isVariable = expr.kind === 'var' && branch !== undefined;
    const value = outer.#known(expr) ?? (isVariable ? { expr, flags: false } : undefined);
    if (value === undefined || branch === undefined) return value;
    const masked = { ...value, expr: this.#masked(value, this.#typeOf(expr)) };
    this.#values.set(expr, masked);
    return masked;
  }

  /** The same value, which outside of the mask gets no cotangent; what is the same at all places gets that of any. */
  #masked({ expr, flags }: MappedValue, type: Type): Expr {
    const { mask, any } = this.#options;
    const isFixed = !isAny(flags) && (any === undefined || expr.kind === 'constant');
    if (mask === undefined || isFixed) return expr;
    if (type.kind === 'tuple') {
      const fields = type.fields.map((field, i) =>
        this.#masked({ expr: fieldOf(expr, i), flags: fieldFlags(flags, i) }, field),
      );
      return tuple(fields);
    }
    if (type.kind !== 'tensor' || !isFloat(type.dtype)) return expr;
    const pair = [expr, stopGradient(expr)] as const;
    if (flags === true) return this.#where(mask, pair, type.shape.length);
    return any === undefined ? expr : call('where', [any, ...pair]);
  }

  /** One of two arrays by a condition of each place, where they have `rank` axes more. */
  #where(condition: Expr, [a, b]: readonly [Expr, Expr | 0], rank: number): Expr {
    const graph = this.#graph(condition);
    const shape = [this.#options.size, ...Array.from({ length: rank }, () => 1)];
    const test = graph.builder.reshape(graph.tensor(condition), shape);
    return exprOf(graph.builder.where(test, graph.tensor(a), b === 0 ? 0 : graph.tensor(b)));
  }

  #get(expr: Expr): MappedValue {
    return this.#known(expr) ?? { expr, flags: false };
  }

  #map(expr: Expr): MappedValue {
    switch (expr.kind) {
      case 'tuple': {
        const fields = expr.fields.map((field) => this.#get(field));
        if (!fields.some(({ flags }) => isAny(flags))) return this.#same(expr);
        return {
          expr: tuple(fields.map((field) => field.expr)),
          flags: fields.map(({ flags }) => flags),
        };
      }
      case 'projection': {
        const whole = this.#get(expr.tuple);
        if (!isAny(whole.flags)) return this.#same(expr);
        return {
          expr: fieldOf(whole.expr, expr.index),
          flags: fieldFlags(whole.flags, expr.index),
        };
      }
      case 'if':
        return this.#dependsOnMapped(expr) ? this.#if(expr) : this.#same(expr);
      case 'match':
        return this.#dependsOnMapped(expr) ? this.#match(expr) : this.#same(expr);
      case 'call':
        return this.#call(expr);
      default:
        return this.#same(expr);
    }
  }

  /** What is the same at all places, of what the branch reads. */
  #same(expr: Expr): MappedValue {
    const read = (child: Expr): Expr => this.#get(child).expr;
    const isRead = expr.kind === 'function' && this.#options.any !== undefined;
    const own = isRead
      ? rewrite(expr, (inner) => (inner.kind === 'var' ? read(inner) : inner))
      : withChildren(expr, read);
    return { expr: own, flags: false };
  }

  #dependsOnMapped(expr: Expr): boolean {
    return childrenOf(expr).some((child) => isAny(this.#get(child).flags));
  }

  #call(expr: CallExpr): MappedValue {
    const { callee, args } = expr;
    if (callee.kind === 'call') return this.#derivative(expr, callee);
    const flags = args.map((arg) => this.#get(arg).flags);
    if (!flags.some(isAny)) return this.#same(expr);
    if (callee.kind === 'operator') return this.#operator(expr, callee.name);
    if (callee.kind !== 'global') {
      throw this.#unsupported(expr, `a call of a ${callee.kind}`);
    }
    const { functions, size, mask, depth = 0 } = this.#options;
    const mapped = functions.of(callee.name, flags, { size, depth });
    if (mapped.unfinished !== undefined && mapped.unfinished.depth !== depth) {
      const { construct } = mapped.unfinished;
      throw this.#unsupported(expr, `${construct}, which goes on as its elements say`);
    }
    const given = args.map((arg, i) => {
      const type = this.#typeOf(arg);
      return this.#raise(this.#get(arg), mapped.params[i] ?? false, { type, at: expr });
    });
    const all = mask === undefined ? given : [mask, ...given];
    return { expr: callFunction(global(mapped.name), all, expr.span), flags: mapped.result };
  }

  #operator(expr: CallExpr, name: string): MappedValue {
    if (name === STOP_GRADIENT) {
      const [value] = expr.args.map((arg) => this.#get(arg));
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
    const output = tensorTypeOf(this.#inference, expr);
    const { values, isShared } = this.#operands(expr.args, types, op.kind);
    const made = (whole: Expr): MappedValue => {
      const value = { expr: whole, flags: true };
      return isShared ? { ...value, expr: this.#masked(value, output) } : value;
    };
    const inputs = values.map(({ expr: own, flags }, i) => ({
      tensor: graph.tensor(own),
      isMapped: flags === true,
      shape: types[i]?.shape ?? [],
    }));
    const { size, frame } = this.#options;
    const batched = batchingOf(op)?.({
      name,
      inputs,
      attributes: completeAttributes(op, expr.attributes),
      output,
      size,
      graph: graph.builder,
    });
    if (batched !== undefined) return made(exprOf(batched));
    const states = values.map((value) => {
      const type = tensorTypeOf(this.#inference, value.expr);
      return {
        state: new ArrayState({ expr: value.expr, type, frame }),
        isMapped: value.flags === true,
      };
    });
    const { attributes } = expr;
    return made(inFrame(frame, () => callPlaceByPlace(name, states, attributes)));
  }

  /**
   * The operands of an operator. The cotangent of one that is the same at all places is a sum over them, to which in a
   * branch only those of the mask may add. Elementwise such an operand gets its places here. Elsewhere that would
   * take their memory, so that the others are zero outside of the mask, and the result, which `isShared` tells, is masked.
   */
  #operands(
    args: readonly Expr[],
    types: readonly TensorTypeNode[],
    kind: OpKind,
  ): { readonly values: readonly MappedValue[]; readonly isShared: boolean } {
    const values = args.map((arg) => this.#get(arg));
    const { mask } = this.#options;
    const isFloatAt = (i: number): boolean => isFloat(types[i]?.dtype ?? 'bool');
    const isShared = values.some(
      ({ flags, expr }, i) => !flags && isFloatAt(i) && expr.kind !== 'constant',
    );
    if (mask === undefined || !isShared) return { values, isShared: false };
    const isElementwise = kind === 'elementwise';
    const own = values.map((value, i): MappedValue => {
      const rank = types[i]?.shape.length ?? 0;
      const { expr, flags } = value;
      if (!isFloatAt(i) || kind === 'injective' || flags === isElementwise) return value;
      const other = isElementwise ? stopGradient(expr) : 0;
      return { expr: this.#where(mask, [expr, other], rank), flags: true };
    });
    return { values: own, isShared: !isElementwise };
  }

  /** The derivatives at all places are those of the mapped function, since no place depends on another. */
  #derivative(expr: CallExpr, callee: CallExpr): MappedValue {
    const operator = operatorName(callee);
    const values = expr.args.map((arg) => this.#get(arg));
    const functions = callee.args.map((arg) => {
      if (arg.kind === 'function') return arg;
      throw this.#unsupported(expr, `${operator} of a ${arg.kind}`);
    });
    const isMapped =
      values.some(({ flags }) => isAny(flags)) || functions.some((fn) => this.#reads(fn));
    if (!isMapped) return this.#same(expr);
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
    const { frame, size, branch: _, any: _any, ...options } = this.#options;
    const own = new FunctionFrame(frame.trace, { frame, isClosure: true });
    const scopes = computeScopes(fn);
    const mapper = new Mapper({ ...options, frame: own, size, scopes, outer: this });
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
    if (condition.flags !== true) {
      const [first, second] = [this.#get(expr.thenBranch), this.#get(expr.elseBranch)];
      const type = this.#typeOf(expr.thenBranch);
      const flags = eitherFlags(first.flags, second.flags);
      const at = { type, at: expr };
      const made: IfExpr = {
        ...expr,
        thenBranch: this.#raise(first, flags, at),
        elseBranch: this.#raise(second, flags, at),
      };
      return { expr: made, flags };
    }
    const branches = this.#options.scopes
      .inside(expr)
      .map((branch, i) =>
        this.#branch(branch, i === 0 ? condition.expr : call('logical_not', [condition.expr])),
      );
    return this.#select(expr, condition.expr, branches);
  }

  /** A branch that the places take where a condition holds. */
  #branch(branch: Scope, condition: Expr): MappedValue {
    const { mask: outer, depth = 0 } = this.#options;
    const mask = outer === undefined ? condition : call('bitwise_and', [outer, condition]);
    const count = call('reduce_sum', [call('cast', [mask], { to: 'int32' })], {
      axes: [0],
      keepdims: false,
    });
    const any = call('cast', [count], { to: 'bool' });
    const own = { outer: this, branch, mask, any, depth: depth + 1 };
    return new Mapper({ ...this.#options, ...own }).of(branch.root);
  }

  /** Both branches are computed, and each place takes its own. */
  #select(expr: IfExpr, condition: Expr, branches: readonly MappedValue[]): MappedValue {
    const types = [this.#typeOf(expr.thenBranch), this.#typeOf(expr.elseBranch)];
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
      return this.#where(condition, [a, b], type.shape.length);
    };
    const [a, b] = types.map((type, i) => {
      const value = branches[i] ?? { expr, flags: false };
      return this.#raise(value, allMapped(type), { type, at: expr });
    });
    const flags = allMapped(types[0] ?? { kind: 'tuple', fields: [] });
    return { expr: choose(a ?? expr, b ?? expr, types), flags };
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
    const raised = this.#graph(at).raise(value, wanted, { type, size: this.#options.size });
    return raised === value.expr ? raised : this.#masked({ expr: raised, flags: wanted }, type);
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
