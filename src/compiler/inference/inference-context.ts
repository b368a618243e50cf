import type { DimFacts } from '../../core/dims/dim-bounds.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { type Complaint, internalError } from '../../core/errors.ts';
import type { Operators } from '../../ops/operators.ts';
import { type CallExpr, type Expr, formatSpan, type FunctionExpr, spanOf } from '../ir/expr.ts';
import { formatType, type Type, type TypeDefinition } from '../ir/type.ts';
import {
  type DeclaredConstructor,
  plainSymbols,
  tensorSymbols,
  typeFault,
} from './declarations.ts';
import { computeScopes, holds, type Scopes } from '../ir/walk/scopes.ts';
import { describeExpr } from './checks/describe-expr.ts';
import {
  type AppliedTerm,
  ERROR_TERM,
  resolve,
  substitute,
  symbolsOfTerm,
  type Term,
  termOf,
} from '../ir/term.ts';
import type { TypeDiagnostics } from './checks/type-diagnostics.ts';
import { isDerivativeOfGlobal } from '../ir/operators/gradient-operators.ts';
import { type Instance, isInfinite, Unifier } from './terms/unifier.ts';
import { type Variances, variancesOf } from './terms/variance.ts';
import { type Constraint, Worklist } from './terms/worklist.ts';

/** The type of a global function, as far as it is known where it is used. */
export interface Signature {
  readonly term: AppliedTerm;
  /** Still being inferred: used as it is, for the same types and symbols everywhere. */
  readonly isOpen: boolean;
  readonly paramNames: readonly string[];
}

/** The typing context of a module: its declarations, and the signatures that are known so far. */
export interface TypingContext {
  readonly types: ReadonlyMap<string, TypeDefinition>;
  readonly constructors: ReadonlyMap<string, DeclaredConstructor>;
  readonly signatures: ReadonlyMap<string, Signature>;
  readonly diagnostics: TypeDiagnostics;
  /** Bounds that functions declare of symbols. */
  readonly facts: DimFacts;
  readonly operators: Operators;
  /**
   * Gives branches whose dimensions differ a common type, with `?` in place of these. Default: only
   * where `?` is declared.
   */
  readonly widensBranches?: boolean | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
}

export type WidenedOperands = Map<CallExpr, readonly Type[]>;

interface RequireOptions {
  readonly at: Expr;
  readonly part?: string | undefined;
  readonly atRunTime?: boolean;
  /** Puts `?` into `expected` for dimensions that differ. */
  readonly widens?: boolean;
  readonly remedy?: string;
}

/** Symbols and type parameters that are known at a place. */
interface Scope {
  /** Grows: the type of a variable may name dimensions of its value, from there on. */
  readonly symbols: Set<string>;
  /** Expressions that name new symbols. */
  readonly naming: Map<string, Expr>;
  readonly typeParams: ReadonlySet<string>;
}

const NO_SYMBOLS: ReadonlySet<string> = new Set();
const NO_SCOPE = { symbols: NO_SYMBOLS, typeParams: NO_SYMBOLS };

/**
 * Facts of the expressions of global functions that are inferred together, because they
 * call each other. Every node has one type; what waits for the type of another stands in the
 * worklist.
 */
export class InferenceContext {
  readonly unifier: Unifier;
  /**
   * Types of operands that became wider after the rule of their operator was applied. Undefined in
   * the last inference, where that is an error.
   */
  readonly widened: WidenedOperands | undefined;
  readonly #known: WidenedOperands;
  readonly #variances: Variances;
  readonly worklist = new Worklist();
  readonly typing: TypingContext;
  /** The types that the callee's type parameters stand for, by call. */
  readonly typeArguments = new Map<CallExpr, readonly Term[]>();
  /** Polymorphic functions that are used as values, with the type at which they are. */
  readonly expansions = new Map<Expr, Instance>();
  readonly results = new Map<FunctionExpr, Term>();
  /** Symbols of the global function, and what each is a dimension of. */
  readonly #names = new Map<string, 'value' | 'parameter'>();
  readonly #rechecks: (() => void)[] = [];
  /** Makes another instance of a function like one at one of its uses. */
  readonly #uses = new Map<Term, () => Term>();
  /** Instances that something was required of. */
  readonly #required = new Set<Term>();
  readonly #terms = new Map<Expr, Term>();
  readonly #values = new Map<Expr, Term>();
  /** The scope whose expressions are being inferred. */
  scope: Scope = { ...NO_SCOPE, symbols: new Set(), naming: new Map() };
  /** The global function around them. */
  global = '';
  #scopes: () => Scopes = () => {
    throw internalError('no function is inferred');
  };

  /** `known`: from an earlier inference of the same functions. `isLast`: what becomes wider now is an error. */
  constructor(
    typing: TypingContext,
    { known = new Map(), isLast = true }: { known?: WidenedOperands; isLast?: boolean } = {},
  ) {
    this.typing = typing;
    this.#known = known;
    this.widened = isLast ? undefined : new Map();
    this.#variances = variancesOf(typing.types);
    this.unifier = new Unifier({ facts: typing.facts, variances: this.#variances });
  }

  /** The type of a node that has been inferred, polymorphic where it is. */
  termOf(expr: Expr): Term {
    return this.#terms.get(expr) ?? ERROR_TERM;
  }

  knownTerm(expr: Expr): Term | undefined {
    return this.#terms.get(expr);
  }

  setTerm(expr: Expr, term: Term): void {
    this.#terms.set(expr, term);
  }

  /** The operands of a call as its rule has to take them. */
  operandTypes(expr: CallExpr, found: readonly Type[]): readonly Type[] {
    return this.#known.get(expr) ?? found;
  }

  /** The type of an expression where its value is used: polymorphic functions are instances. */
  useOf(expr: Expr): Term {
    const known = this.#values.get(expr);
    if (known !== undefined) return known;
    const term = this.termOf(expr);
    const raw = resolve(term);
    // The type that a metavariable leads to may still become wider: only functions are looked through.
    if (raw.kind !== 'applied' || raw.head !== 'function') return term;
    const instance = this.instantiate(expr, raw);
    if (instance.typeArguments.length > 0) this.expansions.set(expr, instance);
    const { scope } = this;
    // An expression that only passes an instance on has the same term: the first use stays.
    if (!this.#uses.has(instance.term))
      this.#uses.set(instance.term, () => {
        const { symbols } = expr.kind === 'global' ? NO_SCOPE : scope;
        const given = instance.typeArguments;
        return this.unifier.instantiate(raw, { scope: symbols, given }).term;
      });
    this.#values.set(expr, instance.term);
    return instance.term;
  }

  format(term: Term): string {
    return formatType(this.unifier.typeOf(term, () => ({ kind: 'type-var', name: '_' })));
  }

  where(expr: Expr): string {
    return formatSpan(spanOf(expr), `@${this.global}, ${describeExpr(expr)}`);
  }

  complain(expr: Expr, complaint: Omit<Complaint, 'where'>, part?: string): AppliedTerm {
    const where = part === undefined ? this.where(expr) : `${this.where(expr)}, ${part}`;
    this.typing.diagnostics.complain(spanOf(expr), { where, ...complaint });
    return ERROR_TERM;
  }

  /** Requires that a value of type `actual` fits `expected`, and complains at `expr` otherwise. */
  require(
    actual: Term,
    expected: Term,
    { at, part, atRunTime = false, widens = false, remedy }: RequireOptions,
  ): void {
    const where = part === undefined ? this.where(at) : `${this.where(at)}, ${part}`;
    const complain = (complaint: Omit<Complaint, 'where'>): void => {
      this.typing.diagnostics.complain(spanOf(at), { ...complaint, where });
    };
    const onMismatch = (got: Dim, wanted: Dim): void =>
      complain({ got: `dimension ${formatDim(got)}`, expected: formatDim(wanted) });
    // As text before unification: half of an equation may be solved when it fails.
    const before = resolve(expected).kind === 'meta' ? '_' : this.format(expected);
    // One place may ask for a function of other sizes than another one.
    const use = resolve(actual);
    const given = this.#required.has(use) ? (this.#uses.get(use)?.() ?? actual) : actual;
    this.#required.add(use);
    if (this.unifier.flow(given, expected, { atRunTime, widens, onMismatch })) {
      if (hasFunctions(actual, this.#variances))
        this.recheck(() => this.#requireStill(actual, expected, complain));
      return;
    }
    const got = this.format(actual);
    const after = this.format(expected);
    if (isInfinite(actual, expected)) {
      complain({
        got: `${got} where ${after} is wanted, a type that would contain itself`,
        expected: 'a finite type',
        remedy: 'Annotate the parameters, or put the function into a data type.',
      });
      return;
    }
    const wanted = after === got ? before : after;
    // The name of a size in data that a function takes.
    const isOneSize = wanted === got && got.includes('?');
    complain({
      got,
      expected: isOneSize ? `${wanted} of elements of one size, or ? in place of its name` : wanted,
      remedy: remedy ?? remedyFor(actual, expected),
    });
  }

  /**
   * Checks a function again when all types are found. Its parameters may have become wider since it
   * was accepted: `@map(%f, %list)` first says which elements `%f` takes, and then that it gets
   * elements of any size.
   */
  #requireStill(
    actual: Term,
    expected: Term,
    complain: (complaint: Omit<Complaint, 'where'>) => void,
  ): void {
    const use = this.#uses.get(resolve(actual))?.() ?? actual;
    const got = this.format(use);
    if (this.unifier.flow(use, resolve(expected))) return;
    complain({ got, expected: this.format(expected) });
  }

  /** Complaints of the module so far. */
  get complaintCount(): number {
    return this.typing.diagnostics.count;
  }

  /** Asks to be called when all types are found, in the order of the requests. */
  recheck(check: () => void): void {
    const global = this.global;
    this.#rechecks.push(() => {
      this.global = global;
      check();
    });
  }

  /** Solves what waits, and looks again at what was decided before all was known. */
  solve(): void {
    this.worklist.solve();
    this.unifier.settle();
    // Types only become wider, and each has but so many dimensions.
    do {
      if (!this.typing.diagnostics.isEmpty) return;
      for (const check of this.#rechecks) check();
    } while (this.unifier.settle());
  }

  /** A declared type as a term, after a look at how it is written. */
  declaredTerm(type: Type, at: Expr, part?: string): Term {
    const { types } = this.typing;
    const fault = typeFault(type, { types, ...this.scope });
    return fault === undefined ? termOf(type) : this.complain(at, fault, part);
  }

  /**
   * The declared type of a variable that is bound to a value. Symbols that are new here name
   * dimensions of the value, whatever they are: `expected` has `?` in their place.
   */
  declareBinding(type: Type, at: Expr): { declared: Term; expected: Term } {
    const named = this.#newSymbols(type);
    for (const symbol of named) {
      if (this.#names.has(symbol)) this.#complainOfName(symbol, at);
      this.#names.set(symbol, 'value');
      this.scope.symbols.add(symbol);
      this.scope.naming.set(symbol, at);
    }
    const declared = this.declaredTerm(type, at);
    return { declared, expected: withUnknown(declared, named) };
  }

  /** Symbols of the parameters of a function, known in its body. */
  declareParams(types: readonly Type[], at: Expr): ReadonlySet<string> {
    // Kernels and lifted closures may have no more than a formula of a size that was named around them.
    if (at.kind === 'function' && isPartOfAnother(at)) return symbolsIn(types);
    const symbols = plainSymbols(types);
    for (const symbol of symbols) {
      if (this.scope.symbols.has(symbol)) continue;
      if (this.#names.get(symbol) === 'value') this.#complainOfName(symbol, at);
      else this.#names.set(symbol, 'parameter');
    }
    return symbols;
  }

  /** Passes may then put what a name stands for in its place without looking at scopes. */
  #complainOfName(symbol: string, at: Expr): void {
    this.complain(at, {
      got: `the dimension ${symbol}, which names another one elsewhere in @${this.global}`,
      expected: 'a name of its own',
    });
  }

  enterGlobal(name: string, fn: FunctionExpr): void {
    this.global = name;
    this.scope = { ...NO_SCOPE, symbols: new Set(), naming: new Map() };
    this.#names.clear();
    let scopes: Scopes | undefined;
    this.#scopes = () => (scopes ??= computeScopes(fn));
  }

  /** The type that a value needs for a variable of this type, as long as the value is not known. */
  expectedOf(type: Type): Term {
    return withUnknown(termOf(type), this.#newSymbols(type));
  }

  #newSymbols(type: Type): string[] {
    return [...tensorSymbols(type)].filter((symbol) => !this.scope.symbols.has(symbol));
  }

  /**
   * A part of an expression that is not always evaluated: a body, a branch or a clause. `leave` gives the
   * type of its result outside, where symbols that were named inside say nothing. What is read outside too
   * is evaluated there, and so are the names that it gives.
   */
  enterPart(owner: Expr, index: number): { leave: (result: Term) => Term } {
    const outer = this.scope;
    const inner = { ...outer, symbols: new Set(outer.symbols), naming: new Map<string, Expr>() };
    this.scope = inner;
    return {
      leave: (result) => {
        this.scope = outer;
        if (inner.naming.size === 0) return result;
        const hidden: string[] = [];
        const scopes = this.#scopes();
        const part = scopes.inside(owner)[index];
        for (const [symbol, at] of inner.naming) {
          // Patterns name sizes for their clause alone.
          const isInside = at === owner || part === undefined || holds(part, scopes.of(at));
          if (isInside) {
            hidden.push(symbol);
          } else {
            outer.symbols.add(symbol);
            outer.naming.set(symbol, at);
          }
        }
        return withUnknown(result, hidden);
      },
    };
  }

  /** A constraint that is attempted as if it stood where it is stated. */
  defer(constraint: Constraint): void {
    const place = { global: this.global, scope: this.scope };
    const inPlace = <T>(run: () => T): T => {
      const now = { global: this.global, scope: this.scope };
      this.global = place.global;
      this.scope = place.scope;
      const result = run();
      this.global = now.global;
      this.scope = now.scope;
      return result;
    };
    this.worklist.add({
      attempt: (closed) => inPlace(() => constraint.attempt(closed)),
      giveUp: () => inPlace(() => constraint.giveUp()),
    });
  }

  /** Only the first such complaint is worth reading: the others may follow from it. */
  giveUp(expr: Expr, what: string): void {
    if (!this.typing.diagnostics.isEmpty) return;
    this.complain(expr, {
      got: `${what} without a known type`,
      expected: 'one that can be inferred',
      remedy: 'Annotate the parameter or variable that it comes from.',
    });
  }

  /** The type of a function at one of its uses. */
  instantiate(expr: Expr, fn: AppliedTerm, given?: readonly Term[]): Instance {
    const isGlobal = expr.kind === 'global';
    const isOwn = isGlobal || isDerivativeOfGlobal(expr);
    if (isGlobal && this.typing.signatures.get(expr.name)?.isOpen === true) {
      return { term: fn, typeArguments: [] };
    }
    const scope = isOwn ? NO_SYMBOLS : this.scope.symbols;
    return this.unifier.instantiate(fn, { scope, given });
  }
}

function isPartOfAnother({ attributes }: FunctionExpr): boolean {
  return attributes.primitive !== undefined || attributes.captured !== undefined;
}

function symbolsIn(types: readonly Type[]): ReadonlySet<string> {
  const symbols = new Set<string>();
  for (const type of types) symbolsOfTerm(termOf(type), { intoFunctions: false }, symbols);
  return symbols;
}

/**
 * Returns true for types with functions in them, and for data types whose fields hold functions
 * that take a type parameter.
 */
function hasFunctions(root: Term, variances: Variances): boolean {
  const seen = new Set<Term>();
  const work: Term[] = [root];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    const term = resolve(next);
    if (term.kind !== 'applied' || seen.has(term)) continue;
    if (term.head === 'function') return true;
    const params = term.head === 'adt' ? (variances.get(term.name) ?? []) : [];
    if (params.some(({ isContravariant }) => isContravariant)) return true;
    seen.add(term);
    work.push(...term.args);
  }
  return false;
}

/** The term with `?` in place of symbols. */
function withUnknown(term: Term, symbols: readonly string[]): Term {
  if (symbols.length === 0) return term;
  return substitute(term, {
    types: new Map(),
    dims: new Map(symbols.map((symbol) => [symbol, '?'])),
  });
}

function remedyFor(actual: Term, expected: Term): string | undefined {
  const from = resolve(actual);
  const to = resolve(expected);
  if (from.kind !== 'tensor' || to.kind !== 'tensor') return undefined;
  if (from.dtype !== to.dtype) return 'Insert a cast.';
  const isClear = [...from.shape, ...to.shape].every((dim) => typeof dim === 'number');
  if (isClear || from.shape.length !== to.shape.length) return undefined;
  return 'Declare a dimension as ? where it is known only when the program runs.';
}
