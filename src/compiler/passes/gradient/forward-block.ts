import { GraphBuilder } from '../../../ops/adjoint/graph-builder.ts';
import type { GraphTensor } from '../../../ops/adjoint/graph-target.ts';
import { applyAdjoint } from '../../../ops/adjoint/apply-adjoint.ts';
import { pullBack, RecordedGraph } from '../../../ops/adjoint/pull-back.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import { callFunction, global, projection, tuple, variableOf } from '../../ir/build.ts';
import {
  type CallExpr,
  type Expr,
  type FunctionExpr,
  type IfExpr,
  type MatchExpr,
  type Pattern,
  spanOf,
  type VarExpr,
} from '../../ir/expr.ts';
import { CUSTOM_GRADIENT, STOP_GRADIENT } from '../../ir/operators/gradient-operators.ts';
import { AS_ANY, DEVICE_COPY, SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';
import { freeVariables } from '../../ir/walk/free-variables.ts';
import { formatType, type Type } from '../../ir/type.ts';
import { copyFunction, freshNames, sizesOf } from './copy-function.ts';
import { type Cotangent, Cotangents } from './cotangents.ts';
import type { DerivativeContext, FunctionScope } from './derivative-context.ts';
import type { Emitter } from './emitter.ts';
import { ExprGraph, exprOf } from './expr-graph.ts';
import { type KnownFunction, knownFunction } from './known-function.ts';
import { functionTypeIn, RunTimeFunctionError } from './run-time-function.ts';
import { construct, SUM_PREFIX, ZERO_PREFIX } from './typed-values.ts';
import { unsupported } from './unsupported.ts';

/** Tangents by variable; those that are absent are zero. */
export type Tangents = Map<Expr, Cotangent>;

/** Forward mode over one block in A-normal form: emits its steps, and the tangent of each after it. */
export class ForwardBlock {
  readonly #program: DerivativeContext;
  readonly #scope: FunctionScope;
  readonly #tangents: Tangents;
  readonly #emitter: Emitter;
  readonly #values: Cotangents;

  constructor(
    program: DerivativeContext,
    { scope, tangents }: { scope: FunctionScope; tangents: Tangents },
    emitter: Emitter,
  ) {
    this.#program = program;
    this.#scope = scope;
    this.#tangents = tangents;
    this.#emitter = emitter;
    this.#values = new Cotangents(program.values, emitter);
  }

  /** Emits a chain of lets, and gives its result and the tangent of that. */
  run(root: Expr): { readonly value: Expr; readonly tangent: Expr } {
    const value = this.#chain(root);
    return { value, tangent: this.tangentOf(value) };
  }

  /** The tangent of an atom as an expression. */
  tangentOf(atom: Expr): Expr {
    return this.#values.whole(this.#tangents.get(atom), atom, this.#typeOf(atom));
  }

  #chain(root: Expr): Expr {
    let current = root;
    for (; current.kind === 'let'; current = current.body) {
      this.#step(current.variable, current.value);
    }
    if (isAtom(current)) return current;
    const variable = this.#emitter.variableFor('result', current);
    this.#step(variable, current);
    return variable;
  }

  #typeOf(expr: Expr): Type {
    return this.#program.types.of(expr);
  }

  #set(variable: VarExpr, tangent: Cotangent | undefined): void {
    if (tangent === undefined || !this.#program.values.hasFloats(this.#typeOf(variable))) return;
    this.#tangents.set(variable, tangent);
  }

  #step(variable: VarExpr, value: Expr): void {
    this.#emitter.at(spanOf(value) ?? variable.span);
    for (const symbol of sizesOf(variable.type)) {
      this.#scope.symbols.add(symbol);
      this.#scope.taken.add(symbol);
    }
    const { known } = this.#scope;
    switch (value.kind) {
      case 'function':
        known.set(variable, { kind: 'closure', value });
        this.#emitter.define(variable, value);
        return;
      case 'tuple': {
        this.#emitter.define(variable, value);
        const fields = value.fields.map((field) => knownFunction(field, known));
        if (fields.some((field) => field !== undefined)) {
          known.set(variable, { kind: 'tuple', fields, value });
        }
        const tangents = value.fields.map((field) => this.#tangents.get(field));
        const isZero = tangents.every((tangent) => tangent === undefined);
        this.#set(variable, isZero ? undefined : { kind: 'fields', fields: tangents });
        return;
      }
      case 'projection': {
        this.#emitter.define(variable, value);
        const of = knownFunction(value.tuple, known);
        const field = of?.kind === 'tuple' ? of.fields[value.index] : undefined;
        if (field !== undefined) known.set(variable, field);
        const whole = this.#tangents.get(value.tuple);
        this.#set(variable, whole && this.#values.field(whole, value.index));
        return;
      }
      case 'call':
        this.#call(variable, value);
        return;
      case 'if':
      case 'match':
        this.#branches(variable, value);
        return;
      default: {
        this.#emitter.define(variable, value);
        const alias = knownFunction(value, known);
        if (alias !== undefined) known.set(variable, alias);
        this.#set(variable, this.#tangents.get(value));
      }
    }
  }

  #call(variable: VarExpr, expr: CallExpr): void {
    const { callee, args } = expr;
    if (callee.kind === 'operator') {
      this.#operator(variable, expr, callee.name);
      return;
    }
    if (callee.kind === 'constructor') {
      this.#construction(variable, expr, callee.name);
      return;
    }
    const fn = knownFunction(callee, this.#scope.known);
    if (fn?.kind === 'closure') {
      this.#inline(variable, fn.value, args);
    } else if (fn?.kind === 'global') {
      this.#global(variable, expr, fn.name);
    } else {
      this.#emitter.define(variable, expr);
      if (!this.#program.values.hasFloats(this.#typeOf(variable))) return;
      const type = this.#typeOf(callee);
      if (fn === undefined && type.kind === 'function') throw new RunTimeFunctionError(expr, type);
      const isConstant = !args.some((arg) => this.#tangents.has(arg) || this.#holdsActive(arg));
      if (!isConstant) throw unsupported(expr, `forward mode through ${CUSTOM_GRADIENT}`);
    }
  }

  /** Returns true for a function, or a tuple with one, that reads a variable with a tangent. */
  #holdsActive(atom: Expr): boolean {
    const holds = (known: KnownFunction | undefined): boolean => {
      if (known?.kind === 'tuple') return known.fields.some(holds);
      return (
        known?.kind === 'closure' &&
        freeVariables(known.value).some(
          (variable) => this.#tangents.has(variable) || holds(this.#scope.known.get(variable)),
        )
      );
    };
    return holds(knownFunction(atom, this.#scope.known));
  }

  #operator(variable: VarExpr, expr: CallExpr, name: string): void {
    this.#emitter.define(variable, expr);
    const { args } = expr;
    if (name === CUSTOM_GRADIENT) {
      const [primal, adjoint] = args.map((arg) => knownFunction(arg, this.#scope.known));
      if (primal === undefined || adjoint === undefined) throw unsupported(expr, name);
      this.#scope.known.set(variable, { kind: 'custom', primal, adjoint, value: expr });
      return;
    }
    if (name === STOP_GRADIENT || !args.some((arg) => this.#tangents.has(arg))) return;
    if (name === DEVICE_COPY) {
      this.#set(variable, args[0] && this.#tangents.get(args[0]));
      return;
    }
    if (SCALAR_OPERATORS.has(name)) {
      const isLost = name === AS_ANY || this.#program.values.hasFloats(this.#typeOf(expr));
      if (isLost) throw unsupported(expr, `a derivative of ${name}`);
      return;
    }
    if (this.#program.values.hasFloats(this.#typeOf(variable))) {
      this.#set(variable, this.#transposed(variable, expr, name));
    }
  }

  /** The adjoint is linear in the cotangent: its own transpose maps tangents to the tangent. */
  #transposed(variable: VarExpr, expr: CallExpr, name: string): Cotangent | undefined {
    const { args, attributes } = expr;
    const place = { span: expr.span, onDevice: expr.onDevice };
    const target = new ExprGraph(this.#program.types, this.#emitter, place);
    const recorded = new RecordedGraph(target);
    // Its value does not matter: nothing of what is pulled back reads it.
    const cotangent = target.tensor(variable);
    const adjoint = applyAdjoint(name, {
      inputs: args.map((arg) => target.tensor(arg)),
      output: target.tensor(variable),
      attributes,
      cotangent,
      wants: (input) => {
        const arg = args[input];
        return arg !== undefined && this.#tangents.has(arg);
      },
      graph: new GraphBuilder(recorded),
      lookup: this.#program.lookup,
    });
    const graph = new GraphBuilder(target);
    const given = new Map<GraphTensor, GraphTensor>();
    for (const [i, found] of adjoint.entries()) {
      const arg = args[i];
      if (found === undefined || arg === undefined) continue;
      const tangent = target.tensor(this.tangentOf(arg));
      const known = given.get(found);
      given.set(found, known === undefined ? tangent : graph.add(known, tangent));
    }
    const { lookup } = this.#program;
    const calls = recorded.calls;
    const [found] = pullBack({ calls, cotangents: given, sources: [cotangent], lookup }, graph);
    return found && { kind: 'whole', expr: exprOf(found) };
  }

  #construction(variable: VarExpr, expr: CallExpr, name: string): void {
    this.#emitter.define(variable, expr);
    const { args } = expr;
    const held = args.find((arg) => this.#holdsActive(arg));
    const fn = held && functionTypeIn(this.#typeOf(held));
    if (fn !== undefined) throw new RunTimeFunctionError(expr, fn);
    const type = this.#typeOf(variable);
    if (type.kind !== 'adt' || !args.some((arg) => this.#tangents.has(arg))) return;
    const types = this.#program.values.fieldTypes(type, name);
    const fields = args.map((arg, i) =>
      this.#program.values.toData(this.tangentOf(arg), arg, {
        type: types[i] ?? this.#typeOf(arg),
        emitter: this.#emitter,
      }),
    );
    const made = this.#emitter.bind(construct(name, type, fields), 't', type);
    this.#set(variable, { kind: 'whole', expr: made });
  }

  #inline(variable: VarExpr, fn: FunctionExpr, args: readonly Expr[]): void {
    const names = freshNames(fn, { known: this.#scope.symbols, taken: this.#scope.taken });
    const copy = copyFunction(fn, names, this.#program.types.operators);
    for (const [i, param] of copy.params.entries()) {
      const arg = args[i];
      if (arg !== undefined) this.#step(param, arg);
    }
    this.#step(variable, this.#chain(copy.body));
  }

  #global(variable: VarExpr, expr: CallExpr, given: string): void {
    const { values } = this.#program;
    const isActive = expr.args.some((arg) => this.#tangents.has(arg) || this.#holdsActive(arg));
    const isZero = given.startsWith(ZERO_PREFIX) || !values.hasFloats(this.#typeOf(variable));
    if (!isActive || isZero) {
      this.#emitter.define(variable, { ...expr, callee: global(given) });
      return;
    }
    if (given.startsWith(SUM_PREFIX)) {
      this.#emitter.define(variable, expr);
      const type = this.#typeOf(variable);
      const [a = variable, b = variable] = expr.args.slice(-2).map((arg) => this.tangentOf(arg));
      const sum = values.sum(a, b, { type, emitter: this.#emitter });
      this.#set(variable, { kind: 'whole', expr: sum });
      return;
    }
    const { name, args } = this.#program.specialise(expr, given, this.#scope.known);
    const tangents = args.map((arg) => this.tangentOf(arg));
    const made = callFunction(global(this.#program.jvp(name)), [...args, ...tangents], expr.span);
    this.#both(variable, made);
  }

  /** The fields of a pair: a value and its tangent. */
  #both(variable: VarExpr, value: Expr): void {
    const both = this.#emitter.bind(value, 'both');
    this.#emitter.define(variable, projection(both, 0));
    const found = this.#emitter.bind(projection(both, 1), 't');
    const own = this.#program.values.conform(found, this.#typeOf(variable), this.#emitter);
    this.#set(variable, { kind: 'whole', expr: own });
  }

  #branches(variable: VarExpr, expr: IfExpr | MatchExpr): void {
    const isActive = freeVariables(expr).some(
      (read) => this.#tangents.has(read) || this.#holdsActive(read),
    );
    if (!isActive || !this.#program.values.hasFloats(this.#typeOf(variable))) {
      this.#emitter.define(variable, expr);
      return;
    }
    if (expr.kind === 'if') {
      const [thenBranch, elseBranch] = [expr.thenBranch, expr.elseBranch].map((branch) =>
        this.#branch(branch, []),
      );
      if (thenBranch === undefined || elseBranch === undefined) return;
      this.#both(variable, { ...expr, thenBranch, elseBranch });
      return;
    }
    const tangent = this.#tangents.get(expr.value);
    if (tangent === undefined) {
      const clauses = expr.clauses.map(({ pattern, body }) => ({
        pattern,
        body: this.#branch(body, []),
      }));
      this.#both(variable, { ...expr, clauses });
      return;
    }
    const type = this.#typeOf(expr.value);
    const pair = this.#emitter.bind(tuple([expr.value, this.tangentOf(expr.value)]));
    const clauses = expr.clauses.map(({ pattern, body }) => {
      const bound: Bound[] = [];
      const mirror = this.#mirror(pattern, type, { bound, inData: false });
      const both: Pattern = { kind: 'tuple-pattern', fields: [pattern, mirror] };
      return { pattern: both, body: this.#branch(body, bound) };
    });
    this.#both(variable, { ...expr, value: pair, clauses, complete: false });
  }

  /** A branch that gives its value and the tangent. */
  #branch(root: Expr, bound: readonly Bound[]): Expr {
    const { active, known, symbols, taken } = this.#scope;
    const scope = { active, known: new Map(known), symbols: new Set(symbols), taken };
    const emitter = this.#emitter.inner();
    const tangents = new Map(this.#tangents);
    for (const { variable, tangent, inData } of bound) {
      const type = this.#typeOf(variable);
      if (!this.#program.values.hasFloats(type)) continue;
      const expr = inData ? this.#program.values.fromData(tangent, type, emitter) : tangent;
      const own = this.#program.values.conform(expr, type, emitter);
      tangents.set(variable, { kind: 'whole', expr: own });
    }
    const block = new ForwardBlock(this.#program, { scope, tangents }, emitter);
    const { value, tangent } = block.run(root);
    return emitter.around(tuple([value, tangent]));
  }

  /** The same pattern over tangents. */
  #mirror(
    pattern: Pattern,
    type: Type,
    { bound, inData }: { bound: Bound[]; inData: boolean },
  ): Pattern {
    const { values } = this.#program;
    switch (pattern.kind) {
      case 'wildcard':
        return pattern;
      case 'int-pattern':
      case 'float-pattern':
        return { kind: 'wildcard' };
      case 'var-pattern': {
        if (!values.hasFloats(type)) return { kind: 'wildcard' };
        const tangent = variableOf('t', type);
        bound.push({ variable: pattern.variable, tangent, inData });
        return { kind: 'var-pattern', variable: tangent };
      }
      case 'tuple-pattern': {
        const types = type.kind === 'tuple' ? type.fields : [];
        const fields = pattern.fields.map((field, i) => {
          const own = types[i] ?? type;
          const isUnit = !inData && !values.hasFloats(own);
          return isUnit
            ? ({ kind: 'wildcard' } as const)
            : this.#mirror(field, own, { bound, inData });
        });
        return { ...pattern, fields };
      }
      case 'constructor-pattern': {
        if (type.kind !== 'adt') throw new Error(`internal: a pattern of ${formatType(type)}`);
        const types = values.fieldTypes(type, pattern.constructor);
        const fields = pattern.fields.map((field, i) =>
          this.#mirror(field, types[i] ?? type, { bound, inData: true }),
        );
        return { ...pattern, fields };
      }
      default:
        return pattern satisfies never;
    }
  }
}

/** A variable of a pattern and the one for its tangent. */
interface Bound {
  readonly variable: VarExpr;
  readonly tangent: VarExpr;
  /** True if the variable is bound to a field of data. */
  readonly inData: boolean;
}
