import { forgetSizes } from '../../inference/sizes/forget-sizes.ts';
import { callFunction, global } from '../../ir/build.ts';
import {
  type CallExpr,
  type Expr,
  type FunctionExpr,
  type IfExpr,
  type MatchExpr,
  type Pattern,
  spanOf,
  type TupleExpr,
  type VarExpr,
} from '../../ir/expr.ts';
import { CUSTOM_GRADIENT, STOP_GRADIENT } from '../../ir/operators/gradient-operators.ts';
import { AS_ANY, DEVICE_COPY, SCALAR_OPERATORS } from '../../ir/operators/scalar-operators.ts';
import type { Type } from '../../ir/type.ts';
import { isAtom } from '../../ir/walk/atoms.ts';
import { freeVariables } from '../../ir/walk/free-variables.ts';
import { copyFunction, freshNames, sizesOf } from './copy-function.ts';
import type { BlockPlace } from './derivative-context.ts';
import { type KnownFunction, knownFunction } from './known-function.ts';
import {
  constructionStep,
  copyStep,
  type LinearStep,
  operatorStep,
  projectionStep,
  sumStep,
  tupleStep,
} from './linear-steps.ts';
import { functionTypeIn, RunTimeFunctionError, unsupported } from './run-time-function.ts';
import { SUM_PREFIX, ZERO_PREFIX } from './typed-values.ts';

/** In which direction derivatives go. A variable becomes active where the mode has, or gets, derivatives of it. */
export interface DerivativeMode {
  /** A step whose variable is not constant. */
  linear(variable: VarExpr, step: LinearStep): void;
  /** Emits a call of a global function, with derivatives. */
  call(variable: VarExpr, expr: CallExpr, name: string): void;
  /** Emits an `if` or `match`, with derivatives. */
  branches(variable: VarExpr, expr: IfExpr | MatchExpr, read: BranchReads): void;
}

/** The variables that branches get derivatives from. */
export interface BranchReads {
  readonly operands: readonly VarExpr[];
  readonly matched?: Expr | undefined;
  readonly type: Type;
}

/** Walks over one block in A-normal form: emits its steps, and tells a mode how their variables follow from others. */
export class DerivativeBlock {
  readonly #at: BlockPlace;
  readonly #mode: DerivativeMode;

  constructor(at: BlockPlace, mode: DerivativeMode) {
    this.#at = at;
    this.#mode = mode;
  }

  /** Emits a chain of lets, and gives the atom that is its result. */
  run(root: Expr): Expr {
    let current = root;
    for (; current.kind === 'let'; current = current.body) {
      this.#step(current.variable, current.value);
    }
    if (isAtom(current)) return current;
    const variable = this.#at.emitter.variableFor('result', current);
    this.#step(variable, current);
    return variable;
  }

  #isActive(expr: Expr): boolean {
    return this.#at.scope.active.has(expr);
  }

  #typeOf(expr: Expr): Type {
    return this.#at.program.types.of(expr);
  }

  #hasFloats(expr: Expr): boolean {
    return this.#at.program.values.hasFloats(this.#typeOf(expr));
  }

  /** The variable is constant where nothing that the step reads is active. */
  #linear(variable: VarExpr, operands: readonly Expr[], step: LinearStep): void {
    if (!operands.some((operand) => this.#isActive(operand))) return;
    if (this.#hasFloats(variable)) this.#mode.linear(variable, step);
  }

  #step(variable: VarExpr, value: Expr): void {
    const { emitter, scope } = this.#at;
    const { known, symbols, taken } = scope;
    emitter.at(spanOf(value) ?? variable.span);
    const named = new Set(sizesOf(variable.type).filter((symbol) => !symbols.has(symbol)));
    for (const symbol of named) {
      symbols.add(symbol);
      taken.add(symbol);
    }
    if (value.kind === 'call') {
      this.#call(variable, value);
      return;
    }
    if (value.kind === 'if' || value.kind === 'match') {
      // The variable names sizes of a value that has none in the branches.
      this.#branches(variable, value, forgetSizes(this.#typeOf(variable), named));
      return;
    }
    emitter.define(variable, value);
    if (value.kind === 'function') {
      known.set(variable, { kind: 'closure', value });
    } else if (value.kind === 'tuple') {
      this.#tuple(variable, value);
    } else if (value.kind === 'projection') {
      const { tuple, index } = value;
      const of = knownFunction(tuple, known);
      this.#knows(variable, of?.kind === 'tuple' ? of.fields[index] : undefined);
      this.#linear(variable, [tuple], projectionStep(this.#at, tuple, index));
    } else {
      this.#knows(variable, knownFunction(value, known));
      this.#linear(variable, [value], copyStep(this.#at, value));
    }
  }

  #knows(variable: VarExpr, fn: KnownFunction | undefined): void {
    if (fn !== undefined) this.#at.scope.known.set(variable, fn);
  }

  #tuple(variable: VarExpr, value: TupleExpr): void {
    const fields = value.fields.map((field) => knownFunction(field, this.#at.scope.known));
    if (fields.some((field) => field !== undefined)) {
      this.#knows(variable, { kind: 'tuple', fields, value });
    }
    this.#linear(variable, value.fields, tupleStep(this.#at, value.fields));
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
    const fn = knownFunction(callee, this.#at.scope.known);
    if (fn?.kind === 'closure') {
      this.#inline(variable, fn.value, expr);
    } else if (fn?.kind === 'global') {
      this.#global(variable, expr, fn.name);
    } else if (fn?.kind === 'custom') {
      this.#custom(variable, expr, fn);
    } else {
      this.#at.emitter.define(variable, expr);
      // It may have captured what gets derivatives.
      if (!this.#hasFloats(variable)) return;
      const type = this.#typeOf(callee);
      if (type.kind !== 'function') throw new Error('internal: a call of no function');
      throw new RunTimeFunctionError(expr, type);
    }
  }

  /** Returns true for a function, or a tuple with one, that reads a variable which gets derivatives. */
  #holdsActive(atom: Expr): boolean {
    const holds = (known: KnownFunction | undefined): boolean => {
      if (known?.kind === 'tuple') return known.fields.some(holds);
      return known?.kind === 'closure' && this.#activeIn(known.value).length > 0;
    };
    return holds(knownFunction(atom, this.#at.scope.known));
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
        visit(this.#at.scope.known.get(variable));
      }
    }
    return [...found];
  }

  #operator(variable: VarExpr, expr: CallExpr, name: string): void {
    const { emitter, scope } = this.#at;
    emitter.define(variable, expr);
    const { args } = expr;
    if (name === CUSTOM_GRADIENT) {
      const [primal, adjoint] = args.map((arg) => {
        const known = knownFunction(arg, scope.known);
        const type = this.#typeOf(arg);
        if (known === undefined && type.kind === 'function')
          throw new RunTimeFunctionError(expr, type);
        return known;
      });
      if (primal === undefined || adjoint === undefined) throw unsupported(expr, name);
      scope.known.set(variable, { kind: 'custom', primal, adjoint, value: expr });
      return;
    }
    const isActive = args.some((arg) => this.#isActive(arg));
    if (!isActive || name === STOP_GRADIENT) return;
    if (name === DEVICE_COPY) {
      this.#linear(variable, args, copyStep(this.#at, args[0] ?? variable));
    } else if (!SCALAR_OPERATORS.has(name)) {
      this.#linear(variable, args, operatorStep(this.#at, variable, { expr, name }));
    } else if (name === AS_ANY || this.#hasFloats(expr)) {
      throw unsupported(expr, `a derivative of ${name}`);
    }
  }

  #construction(variable: VarExpr, expr: CallExpr, name: string): void {
    this.#at.emitter.define(variable, expr);
    const { args } = expr;
    const held = args.find((arg) => this.#holdsActive(arg));
    const fn = held && functionTypeIn(this.#typeOf(held));
    if (fn !== undefined) throw new RunTimeFunctionError(expr, fn);
    const type = this.#typeOf(variable);
    if (type.kind !== 'adt') return;
    this.#linear(variable, args, constructionStep(this.#at, variable, { args, name, type }));
  }

  /** A call of a closure: its body here, with derivatives of what it captures. */
  #inline(variable: VarExpr, fn: FunctionExpr, { args }: CallExpr): void {
    const { program, scope } = this.#at;
    const names = freshNames(fn, { known: scope.symbols, taken: scope.taken });
    const copy = copyFunction(fn, names, program.types.operators);
    for (const [i, param] of copy.params.entries()) {
      const arg = args[i];
      if (arg !== undefined) this.#step(param, arg);
    }
    this.#step(variable, this.run(copy.body));
  }

  #global(variable: VarExpr, expr: CallExpr, given: string): void {
    const { emitter, program, scope } = this.#at;
    const { args } = expr;
    if (given.startsWith(SUM_PREFIX)) {
      emitter.define(variable, expr);
      const terms = args.slice(-2);
      this.#linear(variable, terms, sumStep(this.#at, variable, terms));
      return;
    }
    const isActive = args.some((arg) => this.#isActive(arg) || this.#holdsActive(arg));
    if (!isActive || given.startsWith(ZERO_PREFIX) || !this.#hasFloats(variable)) {
      emitter.define(variable, { ...expr, callee: global(given) });
      return;
    }
    const { name, args: own } = program.specialise(expr, given, scope.known);
    this.#mode.call(variable, { ...expr, args: own }, name);
  }

  /** A call of a function with an adjoint of its own, which says nothing of tangents. */
  #custom(
    variable: VarExpr,
    expr: CallExpr,
    { adjoint }: KnownFunction & { kind: 'custom' },
  ): void {
    const { args } = expr;
    this.#at.emitter.define(variable, expr);
    const operands = args.filter((arg) => this.#isActive(arg) || this.#holdsActive(arg));
    if (operands.length === 0 || !this.#hasFloats(variable)) return;
    this.#mode.linear(variable, {
      push() {
        throw unsupported(expr, `forward mode through ${CUSTOM_GRADIENT}`);
      },
      pull: (cotangent, of) => {
        const whole = of.whole(cotangent, variable, this.#typeOf(variable));
        const fn = functionOf(adjoint, expr);
        of.spread(callFunction(fn, [...args, variable, whole]), args, this.#at);
      },
    });
  }

  #branches(variable: VarExpr, expr: IfExpr | MatchExpr, type: Type): void {
    const { emitter, program } = this.#at;
    const value = expr.kind === 'match' ? expr.value : undefined;
    const operands = this.#activeIn(...bodiesOf(expr));
    const matched = value && this.#isActive(value) ? value : undefined;
    const isActive = operands.length > 0 || (value && (matched || this.#holdsActive(value)));
    if (!isActive || !program.values.hasFloats(type)) emitter.define(variable, expr);
    else this.#mode.branches(variable, expr, { operands, matched, type });
  }
}

function bodiesOf(expr: IfExpr | MatchExpr): readonly Expr[] {
  return expr.kind === 'if'
    ? [expr.thenBranch, expr.elseBranch]
    : expr.clauses.map(({ body }) => body);
}

/** The expression with others in the place of its branches. */
export function mapBodies(
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
