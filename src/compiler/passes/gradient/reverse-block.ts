import { UnsupportedError } from '../../../core/errors.ts';
import { applyAdjoint } from '../../../ops/adjoint/apply-adjoint.ts';
import { GraphBuilder } from '../../../ops/adjoint/graph-builder.ts';
import { forgetSizes } from '../../inference/forget-sizes.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import { callFunction, func, global, projection, tuple, variableOf } from '../../ir/build.ts';
import { cotangentType } from '../../ir/cotangent-type.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type IfExpr,
  type MatchExpr,
  type Pattern,
  spanOf,
  type TupleExpr,
  type VarExpr,
} from '../../ir/expr.ts';
import { freeVariables } from '../../ir/walk/free-variables.ts';
import { CUSTOM_GRADIENT, STOP_GRADIENT } from '../../ir/operators/gradient-operators.ts';
import { AS_ANY, DEVICE_COPY, SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';
import type { Type } from '../../ir/type.ts';
import { variablesOf } from '../../ir/walk/visit.ts';
import { copyFunction, freshNames, hasUnknownDims, sizesOf } from './copy-function.ts';
import { type Cotangent, Cotangents } from './cotangents.ts';
import type { Emitter } from './emitter.ts';
import { ExprGraph, exprOf } from './expr-graph.ts';
import { type KnownFunction, knownFunction } from './known-function.ts';
import type { DerivativeContext, FunctionScope } from './derivative-context.ts';
import { bindAllParts, cotangentOfPattern } from './pattern-cotangents.ts';
import { functionTypeIn, RunTimeFunctionError } from './run-time-function.ts';
import { unsupported } from './unsupported.ts';
import { SUM_PREFIX, ZERO_PREFIX } from './typed-values.ts';

/** Adds to the cotangents of what a step reads, from that of its variable. */
type Pull = (cotangents: Cotangents, emitter: Emitter) => void;

/**
 * Reverse mode over one block in A-normal form: emits its steps, and then, from the last to the first,
 * what they give to the cotangents of variables.
 */
export class ReverseBlock {
  readonly #program: DerivativeContext;
  readonly #scope: FunctionScope;
  readonly #emitter: Emitter;
  readonly #pulls: Pull[] = [];

  constructor(program: DerivativeContext, scope: FunctionScope, emitter: Emitter) {
    this.#program = program;
    this.#scope = scope;
    this.#emitter = emitter;
  }

  /** Emits a chain of lets, and gives the atom that is its result. */
  run(root: Expr): Expr {
    let current = root;
    for (; current.kind === 'let'; current = current.body) {
      this.#step(current.variable, current.value);
    }
    if (isAtom(current)) return current;
    const variable = this.#emitter.variableFor('result', current);
    this.#step(variable, current);
    return variable;
  }

  /** Walks back over all that was emitted. */
  pull(cotangents: Cotangents, emitter: Emitter): void {
    for (const pull of this.#pulls.toReversed()) pull(cotangents, emitter);
  }

  #isActive(expr: Expr): boolean {
    return this.#scope.active.has(expr);
  }

  #typeOf(expr: Expr): Type {
    return this.#program.types.of(expr);
  }

  #step(variable: VarExpr, value: Expr): void {
    this.#emitter.at(spanOf(value) ?? variable.span);
    const { symbols, taken } = this.#scope;
    const named = new Set(sizesOf(variable.type).filter((symbol) => !symbols.has(symbol)));
    for (const symbol of named) {
      symbols.add(symbol);
      taken.add(symbol);
    }
    switch (value.kind) {
      case 'function':
        this.#scope.known.set(variable, { kind: 'closure', value });
        this.#emitter.define(variable, value);
        return;
      case 'tuple':
        this.#tuple(variable, value);
        this.#emitter.define(variable, value);
        return;
      case 'projection':
        this.#emitter.define(variable, value);
        this.#projection(variable, value.tuple, value.index);
        return;
      case 'call':
        this.#call(variable, value);
        return;
      case 'if':
      case 'match':
        // The variable names sizes of a value that has none in the branches.
        this.#branches(variable, value, forgetSizes(this.#typeOf(variable), named));
        return;
      default:
        this.#emitter.define(variable, value);
        this.#alias(variable, value);
    }
  }

  /** The variable gets derivatives, and gives its cotangent to what it was computed from. */
  #activate(variable: VarExpr, pull: (cotangent: Cotangent, of: Cotangents, at: Emitter) => void) {
    if (!this.#program.values.hasFloats(this.#typeOf(variable))) return;
    this.#scope.active.add(variable);
    const { span } = this.#emitter;
    this.#pulls.push((cotangents, emitter) => {
      const cotangent = cotangents.get(variable);
      if (cotangent === undefined) return;
      emitter.at(span);
      pull(cotangent, cotangents, emitter);
    });
  }

  #alias(variable: VarExpr, value: Expr): void {
    const known = knownFunction(value, this.#scope.known);
    if (known !== undefined) this.#scope.known.set(variable, known);
    if (!this.#isActive(value)) return;
    this.#activate(variable, (cotangent, of) => of.add(value, cotangent, this.#typeOf(value)));
  }

  #tuple(variable: VarExpr, value: TupleExpr): void {
    const { fields } = value;
    const known = fields.map((field) => knownFunction(field, this.#scope.known));
    if (known.some((field) => field !== undefined)) {
      this.#scope.known.set(variable, { kind: 'tuple', fields: known, value });
    }
    if (!fields.some((field) => this.#isActive(field))) return;
    this.#activate(variable, (cotangent, of) => {
      for (const [i, field] of fields.entries()) {
        if (!this.#isActive(field)) continue;
        const part = of.field(cotangent, i);
        if (part !== undefined) of.add(field, part, this.#typeOf(field));
      }
    });
  }

  #projection(variable: VarExpr, of: Expr, index: number): void {
    const known = knownFunction(of, this.#scope.known);
    const field = known?.kind === 'tuple' ? known.fields[index] : undefined;
    if (field !== undefined) this.#scope.known.set(variable, field);
    if (!this.#isActive(of)) return;
    const type = this.#typeOf(of);
    const count = type.kind === 'tuple' ? type.fields.length : 0;
    this.#activate(variable, (cotangent, cotangents) => {
      const fields = Array.from({ length: count }, (_, i) => (i === index ? cotangent : undefined));
      cotangents.add(of, { kind: 'fields', fields }, type);
    });
  }

  #call(variable: VarExpr, expr: CallExpr): void {
    const { callee } = expr;
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
      this.#inline(variable, fn.value, expr);
    } else if (fn?.kind === 'global') {
      this.#global(variable, expr, fn.name);
    } else if (fn?.kind === 'custom') {
      this.#custom(variable, expr, fn);
    } else {
      this.#emitter.define(variable, expr);
      // It may have captured what gets derivatives.
      if (!this.#program.values.hasFloats(this.#typeOf(variable))) return;
      const type = this.#typeOf(callee);
      if (type.kind !== 'function') throw new Error('internal: a call of no function');
      throw new RunTimeFunctionError(expr, type);
    }
  }

  /**
   * Returns true for a function, or a tuple with one, that reads a variable which gets derivatives.
   */
  #holdsActive(atom: Expr): boolean {
    const holds = (known: KnownFunction | undefined): boolean => {
      if (known?.kind === 'tuple') return known.fields.some(holds);
      return known?.kind === 'closure' && this.#activeIn(known.value).length > 0;
    };
    return holds(knownFunction(atom, this.#scope.known));
  }

  /** Variables with derivatives that code reads, also by way of functions. */
  #activeIn(...roots: readonly Expr[]): readonly VarExpr[] {
    const found = new Set<VarExpr>();
    const seen = new Set<Expr>();
    const work = [...roots];
    const visit = (known: KnownFunction | undefined): void => {
      if (known?.kind === 'closure') work.push(known.value);
      if (known?.kind === 'tuple') for (const field of known.fields) visit(field);
    };
    for (let root = work.pop(); root !== undefined; root = work.pop()) {
      if (seen.has(root)) continue;
      seen.add(root);
      for (const variable of freeVariables(root)) {
        if (this.#isActive(variable)) found.add(variable);
        visit(this.#scope.known.get(variable));
      }
    }
    return [...found];
  }

  #operator(variable: VarExpr, expr: CallExpr, name: string): void {
    this.#emitter.define(variable, expr);
    const { args } = expr;
    if (name === CUSTOM_GRADIENT) {
      const [primal, adjoint] = args.map((arg) => {
        const known = knownFunction(arg, this.#scope.known);
        const type = this.#typeOf(arg);
        if (known === undefined && type.kind === 'function')
          throw new RunTimeFunctionError(expr, type);
        return known;
      });
      if (primal === undefined || adjoint === undefined) throw unsupported(expr, name);
      this.#scope.known.set(variable, { kind: 'custom', primal, adjoint, value: expr });
      return;
    }
    const isActive = args.some((arg) => this.#isActive(arg));
    if (!isActive || name === STOP_GRADIENT) return;
    if (name === DEVICE_COPY) {
      const [from = variable] = args;
      this.#activate(variable, (cotangent, of) => of.add(from, cotangent, this.#typeOf(from)));
      return;
    }
    if (SCALAR_OPERATORS.has(name)) {
      const isLost = name === AS_ANY || this.#program.values.hasFloats(this.#typeOf(expr));
      if (isLost) throw unsupported(expr, `a derivative of ${name}`);
      return;
    }
    this.#activate(variable, (cotangent, of, emitter) => {
      const whole = of.whole(cotangent, variable, this.#typeOf(variable));
      this.#pullOperator(variable, expr, { name, cotangent: whole, of, emitter });
    });
  }

  #pullOperator(
    variable: VarExpr,
    expr: CallExpr,
    to: { name: string; cotangent: Expr; of: Cotangents; emitter: Emitter },
  ): void {
    const { args, attributes } = expr;
    const place = { span: expr.span, onDevice: expr.onDevice };
    const target = new ExprGraph(this.#program.types, to.emitter, place);
    try {
      const cotangents = applyAdjoint(to.name, {
        inputs: args.map((arg) => target.tensor(arg)),
        output: target.tensor(variable),
        attributes,
        cotangent: target.tensor(to.cotangent),
        wants: (input) => {
          const arg = args[input];
          return arg !== undefined && this.#isActive(arg);
        },
        graph: new GraphBuilder(target),
        lookup: this.#program.lookup,
      });
      for (const [i, found] of cotangents.entries()) {
        const arg = args[i];
        if (found === undefined || arg === undefined) continue;
        to.of.add(arg, { kind: 'whole', expr: exprOf(found) }, this.#typeOf(arg));
      }
    } catch (thrown) {
      if (!(thrown instanceof UnsupportedError) || expr.span === undefined) throw thrown;
      const message = `${formatSpan(expr.span, '')}: ${thrown.message}`;
      throw new UnsupportedError(message, { cause: thrown });
    }
  }

  #construction(variable: VarExpr, expr: CallExpr, name: string): void {
    this.#emitter.define(variable, expr);
    const { args } = expr;
    const held = args.find((arg) => this.#holdsActive(arg));
    const fn = held && functionTypeIn(this.#typeOf(held));
    if (fn !== undefined) throw new RunTimeFunctionError(expr, fn);
    const type = this.#typeOf(variable);
    if (type.kind !== 'adt' || !args.some((arg) => this.#isActive(arg))) return;
    const { values, types } = this.#program;
    this.#activate(variable, (cotangent, of, emitter) => {
      const whole = of.whole(cotangent, variable, type);
      const own = types.of(whole);
      const fieldTypes = values.fieldTypes(own.kind === 'adt' ? own : type, name);
      const fields = fieldTypes.map((field, i) => variableOf(`d${i}`, field));
      const pattern: Pattern = {
        kind: 'constructor-pattern',
        constructor: name,
        fields: fields.map((field) => ({ kind: 'var-pattern', variable: field })),
      };
      const opened: Expr = {
        kind: 'match',
        value: whole,
        clauses: [{ pattern, body: tuple(fields) }],
        complete: false,
      };
      const parts = emitter.bind(opened, 'd', types.of(opened));
      for (const [i, arg] of args.entries()) {
        if (!this.#isActive(arg)) continue;
        const part = emitter.named(projection(parts, i));
        const own = values.fromData(part, fieldTypes[i] ?? this.#typeOf(arg), emitter);
        of.add(arg, { kind: 'whole', expr: own }, this.#typeOf(arg));
      }
    });
  }

  /** A call of a closure: its body here, with derivatives of what it captures. */
  #inline(variable: VarExpr, fn: FunctionExpr, { args }: CallExpr): void {
    const { operators } = this.#program.types;
    const names = freshNames(fn, { known: this.#scope.symbols, taken: this.#scope.taken });
    const copy = copyFunction(fn, names, operators);
    for (const [i, param] of copy.params.entries()) {
      const arg = args[i];
      if (arg !== undefined) this.#step(param, arg);
    }
    const result = this.run(copy.body);
    this.#step(variable, result);
  }

  #global(variable: VarExpr, expr: CallExpr, given: string): void {
    const { values } = this.#program;
    if (given.startsWith(ZERO_PREFIX)) {
      this.#emitter.define(variable, expr);
      return;
    }
    if (given.startsWith(SUM_PREFIX)) {
      this.#emitter.define(variable, expr);
      const terms = expr.args.slice(-2).filter((arg) => this.#isActive(arg));
      if (terms.length === 0) return;
      this.#activate(variable, (cotangent, of) => {
        for (const term of terms) of.add(term, cotangent, this.#typeOf(term));
      });
      return;
    }
    const isActive = expr.args.some((arg) => this.#isActive(arg) || this.#holdsActive(arg));
    if (!isActive || !values.hasFloats(this.#typeOf(variable))) {
      this.#emitter.define(variable, { ...expr, callee: global(given) });
      return;
    }
    const { name, args } = this.#program.specialise(expr, given, this.#scope.known);
    const { result, params } = this.#program.signature(name);
    const forward = callFunction(global(this.#program.vjp(name)), args, expr.span);
    const both = this.#emitter.bind(forward, 'r');
    this.#emitter.define(variable, projection(both, 0));
    const back = this.#emitter.bind(projection(both, 1), 'back');
    const isPacked = hasUnknownDims(result);
    if (params.length !== args.length) throw new Error(`internal: @${name} has other parameters`);
    this.#activate(variable, (cotangent, of, emitter) => {
      const whole = of.whole(cotangent, variable, this.#typeOf(variable));
      const packed = isPacked ? tuple([whole]) : whole;
      this.#spread(callFunction(back, [packed]), args, { of, emitter });
    });
  }

  /** Adds the fields of a tuple to the cotangents of operands. */
  #spread(
    value: Expr,
    operands: readonly Expr[],
    { of, emitter }: { of: Cotangents; emitter: Emitter },
  ): void {
    const parts = emitter.bind(value, 'd');
    for (const [i, operand] of operands.entries()) {
      if (!this.#isActive(operand)) continue;
      const part = emitter.named(projection(parts, i));
      of.add(operand, { kind: 'whole', expr: part }, this.#typeOf(operand));
    }
  }

  #custom(
    variable: VarExpr,
    expr: CallExpr,
    { adjoint }: KnownFunction & { kind: 'custom' },
  ): void {
    const { args } = expr;
    this.#emitter.define(variable, expr);
    if (!args.some((arg) => this.#isActive(arg))) return;
    this.#activate(variable, (cotangent, of, emitter) => {
      const whole = of.whole(cotangent, variable, this.#typeOf(variable));
      const value = callFunction(functionOf(adjoint, expr), [...args, variable, whole]);
      this.#spread(value, args, { of, emitter });
    });
  }

  #branches(variable: VarExpr, expr: IfExpr | MatchExpr, type: Type): void {
    const bodies = bodiesOf(expr);
    const operands = this.#activeIn(...bodies);
    const matched = expr.kind === 'match' && this.#isActive(expr.value) ? expr.value : undefined;
    const isActive = operands.length > 0 || matched !== undefined;
    if (!isActive || !this.#program.values.hasFloats(type)) {
      this.#emitter.define(variable, expr);
      return;
    }
    const outs: Outs = { operands, matched, type };
    const made = mapBodies(this.#withoutWildcards(expr), (body, pattern) => {
      const emitter = this.#emitter.inner();
      const block = this.#inner(emitter, matched === undefined ? undefined : pattern);
      const result = block.run(body);
      return emitter.around(tuple([result, block.backOf({ ...outs, result, pattern })]));
    });
    const both = this.#emitter.bind(made, 'r');
    this.#emitter.define(variable, projection(both, 0));
    const back = this.#emitter.bind(projection(both, 1), 'back');
    const isPacked = hasUnknownDims(type);
    this.#activate(variable, (cotangent, of, emitter) => {
      const whole = of.whole(cotangent, variable, this.#typeOf(variable));
      const packed = isPacked ? tuple([whole]) : whole;
      this.#spread(callFunction(back, [packed]), outsOf(outs), { of, emitter });
    });
  }

  /** A block inside this one. Variables of a pattern have derivatives if the value has. */
  #inner(emitter: Emitter, pattern: Pattern | undefined): ReverseBlock {
    const { active, known, symbols, taken } = this.#scope;
    const inner = { active, known: new Map(known), symbols: new Set(symbols), taken };
    for (const bound of pattern === undefined ? [] : variablesOf(pattern)) {
      if (this.#program.values.hasFloats(this.#typeOf(bound))) active.add(bound);
      for (const symbol of sizesOf(bound.type)) inner.symbols.add(symbol);
    }
    return new ReverseBlock(this.#program, inner, emitter);
  }

  /** The function from the cotangent of a branch's result to those of what all branches read. */
  backOf(branch: Branch): FunctionExpr {
    const emitter = this.#emitter.inner();
    const own = cotangentType(branch.type);
    const isPacked = hasUnknownDims(branch.type);
    const param = variableOf('d', isPacked ? { kind: 'tuple', fields: [own] } : own);
    const cotangent = isPacked ? emitter.named(projection(param, 0)) : param;
    const body = this.pullBranch({ ...branch, cotangent, emitter });
    // As around the branch: what the body gives may have sizes that only it names.
    const fields = outsOf(branch).map((out) => cotangentType(this.#typeOf(out)));
    return { ...func([param], emitter.around(body)), resultType: { kind: 'tuple', fields } };
  }

  /** The cotangents of what a branch reads, as a tuple. */
  pullBranch(branch: Branch & { cotangent: Expr; emitter: Emitter }): Expr {
    const { values } = this.#program;
    const { result, cotangent, emitter, operands, matched, pattern } = branch;
    const cotangents = new Cotangents(values, emitter);
    const type = this.#typeOf(result);
    const own = values.conform(cotangent, type, emitter);
    if (this.#isActive(result)) cotangents.add(result, { kind: 'whole', expr: own }, type);
    this.pull(cotangents, emitter);
    const found = operands.map((variable) => cotangents.wholeOf(variable, this.#typeOf(variable)));
    if (matched === undefined || pattern === undefined) return tuple(found);
    const at = { values, cotangents, emitter, matched };
    const of = cotangentOfPattern(pattern, this.#typeOf(matched), at);
    return tuple([...found, of]);
  }

  /** A match whose patterns bind all parts of a value, if that has derivatives. */
  #withoutWildcards<E extends IfExpr | MatchExpr>(expr: E): E {
    if (expr.kind === 'if' || !this.#isActive(expr.value)) return expr;
    const type = this.#typeOf(expr.value);
    const { values } = this.#program;
    const clauses = expr.clauses.map(({ pattern, body }) => ({
      pattern: bindAllParts(pattern, type, { values, emitter: this.#emitter }),
      body,
    }));
    return { ...expr, clauses };
  }
}

/** Cotangents that all branches of an expression give. */
interface Outs {
  readonly operands: readonly VarExpr[];
  /** The value of a match, after those, if it has derivatives. */
  readonly matched?: Expr | undefined;
  /** The type of the result. */
  readonly type: Type;
}

/** A branch whose block has been emitted. */
interface Branch extends Outs {
  readonly result: Expr;
  readonly pattern?: Pattern | undefined;
}

function outsOf({ operands, matched }: Outs): readonly Expr[] {
  return matched === undefined ? operands : [...operands, matched];
}

function bodiesOf(expr: IfExpr | MatchExpr): readonly Expr[] {
  return expr.kind === 'if'
    ? [expr.thenBranch, expr.elseBranch]
    : expr.clauses.map(({ body }) => body);
}

function mapBodies(
  expr: IfExpr | MatchExpr,
  make: (body: Expr, pattern?: Pattern) => Expr,
): IfExpr | MatchExpr {
  if (expr.kind === 'match') {
    const clauses = expr.clauses.map(({ pattern, body }) => ({
      pattern,
      body: make(body, pattern),
    }));
    return { ...expr, clauses };
  }
  return { ...expr, thenBranch: make(expr.thenBranch), elseBranch: make(expr.elseBranch) };
}

function functionOf(known: KnownFunction, at: Expr): Expr {
  if (known.kind === 'global' || known.kind === 'closure') return known.value;
  throw unsupported(at, 'a function with an adjoint inside another');
}
