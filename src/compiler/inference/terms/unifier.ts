import { forEachSymbol, isUnknownDim, substituteDim } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { NO_FACTS, simplifyDim } from '../../../core/dims/dim-algebra.ts';
import type { DimFacts } from '../../../core/dims/dim-bounds.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import type { Type } from '../../ir/type.ts';
import { compareDims } from '../sizes/compare-dims.ts';
import {
  type AppliedTerm,
  freshMeta,
  type MetaTerm,
  resolve,
  substitute,
  symbolsOfTerm,
  type Term,
  type TensorTerm,
  typeOfTerm,
} from '../../ir/term.ts';
import { varianceAt, type Variances } from './variance.ts';

interface FlowOptions {
  /**
   * Dimensions of tensors that cannot be compared now are compared when the program runs: so for
   * arguments, which a function checks when it is entered.
   */
  readonly atRunTime?: boolean | undefined;
  /** A type that joins others has `?` where their dimensions differ. */
  readonly widens?: boolean | undefined;
  /** Told of a pair of dimensions that has to be compared when the program runs. */
  readonly onCheck?: ((actual: Dim, expected: Dim) => void) | undefined;
  /** Told when dimensions that were not yet known turn out to differ. */
  readonly onMismatch?: ((actual: Dim, expected: Dim) => void) | undefined;
}

export interface Instance {
  readonly term: AppliedTerm;
  readonly typeArguments: readonly Term[];
}

interface UnifierOptions {
  readonly facts?: DimFacts | undefined;
  readonly ownSizes?: boolean | undefined;
  readonly variances?: Variances | undefined;
}

interface PostponedDims {
  readonly actual: Dim;
  readonly expected: Dim;
  readonly options: FlowOptions;
}

const META = '#';
const NO_TYPES: ReadonlyMap<string, Term> = new Map();
const NO_VARIANCES: Variances = new Map();

/**
 * Solves equations between types. Types are unified structurally, after Hindley and Milner;
 * dimensions of tensors have a direction: a value whose dimension is known fits where any is
 * accepted (`?`), not the other way round.
 */
export class Unifier {
  readonly #dims = new Map<string, Dim>();
  /** Metavariables that may not stand for `?`. */
  readonly #exact = new Set<string>();
  #serial = 0;
  #postponed: PostponedDims[] = [];
  /**
   * Types that were joined into metavariables. Where one became wider afterwards, `settle` widens
   * the metavariable too.
   */
  readonly #joins: { readonly actual: Term; readonly meta: MetaTerm }[] = [];
  readonly #facts: DimFacts;
  readonly #ownSizes: boolean;
  readonly #variances: Variances;

  /**
   * `facts`: bounds of symbols. `ownSizes`: symbols in the type of a function that is a value may stand for any
   * dimension, as those do that are its own. For types that inference has already accepted, which knows the
   * scopes of symbols. `variances`: of the parameters of data types; those of others are covariant.
   */
  constructor({
    facts = NO_FACTS,
    ownSizes = false,
    variances = NO_VARIANCES,
  }: UnifierOptions = {}) {
    this.#facts = facts;
    this.#variances = variances;
    this.#ownSizes = ownSizes;
  }

  /**
   * Returns true if a value of type `actual` fits where `expected` is required. Binds metavariables
   * so that it does.
   */
  flow(actual: Term, expected: Term, options: FlowOptions = {}): boolean {
    countWork();
    if (expected.kind === 'meta') return this.join(actual, expected, options) !== undefined;
    const from = resolve(actual);
    if (from.kind === 'meta') return bind(from, expected);
    if (from === expected) return true;
    if (isErrorHead(from) || isErrorHead(expected)) return true;
    if (from.kind === 'tensor' || expected.kind === 'tensor') {
      return (
        from.kind === 'tensor' &&
        expected.kind === 'tensor' &&
        isSameKindOfTensor(from, expected) &&
        from.shape.every((dim, axis) => this.#flowDim(dim, expected.shape[axis] ?? '?', options))
      );
    }
    if (from.head === 'function' && expected.head === 'function') {
      return this.#flowFunction(from, expected, options);
    }
    const inner = from.head === 'tuple' ? options : { ...options, atRunTime: false };
    return (
      isSameHead(from, expected) &&
      from.args.every((arg, i) => {
        const other = argument(expected, i);
        return this.#takes(from, i)
          ? this.#flowAgainst({ type: from, index: i, arg, other }, inner)
          : this.flow(arg, other, inner);
      })
    );
  }

  /**
   * Returns true if functions in fields of a data type take values of its parameter at this index.
   */
  #takes({ head, name }: AppliedTerm, index: number): boolean {
    return head === 'adt' && varianceAt(this.#variances, name, index).isContravariant;
  }

  /**
   * Compares arguments for a parameter that functions in data take: in the opposite direction, and
   * in both if the data also hold values of it.
   */
  #flowAgainst(
    { type, index, arg, other }: { type: AppliedTerm; index: number; arg: Term; other: Term },
    options: FlowOptions,
  ): boolean {
    const isInvariant = varianceAt(this.#variances, type.name, index).isCovariant;
    return this.flow(other, arg, options) && (!isInvariant || this.flow(arg, other, options));
  }

  /**
   * The type of which both are: `expected`, with `?` for dimensions that are `?` in either. Where a
   * metavariable leads to such a dimension, it is bound anew. Undefined when there is none.
   */
  join(actual: Term, expected: Term, options: FlowOptions = {}): Term | undefined {
    countWork();
    if (expected.kind === 'meta') {
      this.#joins.push({ actual, meta: expected });
      if (expected.binding === undefined) return bind(expected, actual) ? expected : undefined;
      const joined = this.join(actual, expected.binding, options);
      if (joined !== undefined && joined !== expected) expected.binding = joined;
      return joined === undefined ? undefined : expected;
    }
    const from = resolve(actual);
    if (from === expected) return expected;
    if (from.kind === 'meta') return bind(from, expected) ? expected : undefined;
    if (isErrorHead(from) || isErrorHead(expected)) return expected;
    if (from.kind === 'tensor' || expected.kind === 'tensor') {
      if (from.kind !== 'tensor' || expected.kind !== 'tensor') return undefined;
      return this.#joinTensors(from, expected, options);
    }
    if (from.head === 'function') {
      return this.flow(from, expected, options) ? expected : undefined;
    }
    if (!isSameHead(from, expected)) return undefined;
    const args: Term[] = [];
    for (const [i, arg] of from.args.entries()) {
      // A value in a tuple keeps its own type, which its metavariable stands for, where the tuple's is wider.
      const wanted = argument(expected, i);
      if (this.#takes(from, i)) {
        if (!this.#flowAgainst({ type: from, index: i, arg, other: wanted }, options))
          return undefined;
        args.push(wanted);
        continue;
      }
      const own = from.head === 'tuple' ? resolve(wanted) : wanted;
      const joined = this.join(arg, own, options);
      if (joined === undefined) return undefined;
      args.push(joined);
    }
    return args.every(
      (arg, i) => arg === resolve(argument(expected, i)) || arg === expected.args[i],
    )
      ? expected
      : { ...expected, args };
  }

  /**
   * A use of a function: fresh metavariables for its type parameters (or `given`) and for its own
   * symbols, which are those that stand in its parameters and not in the `scope` around it.
   */
  instantiate(
    fn: AppliedTerm,
    { scope, given }: { scope: ReadonlySet<string>; given?: readonly Term[] | undefined },
  ): Instance {
    const typeArguments = fn.typeParams.map((_, i) => given?.[i] ?? freshMeta());
    const params = fn.args.slice(0, -1);
    const own = new Set<string>();
    for (const param of params) symbolsOfTerm(param, { intoFunctions: false }, own);
    const ofData = symbolsInData(params);
    const ofResult = symbolsOfTerm(fn.args.at(-1) ?? fn, { intoFunctions: false });
    const dims = new Map<string, Dim>();
    for (const symbol of symbolsOfTerm(fn, { intoFunctions: true })) {
      if (symbol.startsWith(META) || scope.has(symbol)) continue;
      // Every function type inside binds its own symbols: they must not meet those of the caller.
      if (own.has(symbol)) dims.set(symbol, this.#freshSize(symbol, ofData));
      else dims.set(symbol, ofResult.has(symbol) ? '?' : this.#rename(symbol));
    }
    if (dims.size === 0 && typeArguments.length === 0) return { term: fn, typeArguments };
    const types = new Map(fn.typeParams.map((name, i) => [name, typeArguments[i] ?? freshMeta()]));
    const args = fn.args.map((arg) => substitute(arg, { types, dims }));
    return { term: { ...fn, typeParams: [], args }, typeArguments };
  }

  /** All elements of data have it: what is not known cannot stand for it, because no check would find a difference. */
  #freshSize(symbol: string, ofData: ReadonlySet<string>): Dim {
    const dim = `${META}${this.#serial++}`;
    if (ofData.has(symbol)) this.#exact.add(dim);
    return dim;
  }

  /** The dimension with what its metavariables were found to be. */
  resolveDim(dim: Dim): Dim {
    if (typeof dim === 'number' || this.#dims.size === 0) return dim;
    let current: Dim = dim;
    for (;;) {
      const next = substituteDim(current, this.#dims);
      if (next === current) return current;
      current = next;
    }
  }

  hasOpenDims(dim: Dim): boolean {
    let open = false;
    forEachSymbol(this.resolveDim(dim), (symbol) => {
      open ||= symbol.startsWith(META);
    });
    return open;
  }

  /**
   * Compares the dimensions that had to wait. Those that are still open are not known, and then
   * neither are those of types that such values were joined into. Returns true if a type became wider.
   */
  settle(): boolean {
    this.#comparePostponed();
    let isWider = false;
    for (let hasChanged = true; hasChanged; isWider ||= hasChanged) {
      hasChanged = false;
      for (const { actual, meta } of this.#joins) {
        hasChanged = this.#widen(actual, meta) || hasChanged;
      }
    }
    return isWider;
  }

  #comparePostponed(): void {
    for (;;) {
      const postponed = this.#postponed;
      this.#postponed = [];
      for (const { actual, expected, options } of postponed) {
        if (!this.#flowDim(actual, expected, options)) {
          options.onMismatch?.(this.resolveDim(actual), this.resolveDim(expected));
        }
      }
      if (this.#postponed.length === 0 || this.#postponed.length === postponed.length) return;
    }
  }

  /**
   * Puts `?` into a type where dimensions of a value that was joined into it are not known after all.
   * Returns true if there are any.
   */
  #widen(actual: Term, expected: Term): boolean {
    countWork();
    const from = resolve(actual);
    if (expected.kind === 'meta') {
      const { binding } = expected;
      if (binding === undefined) return false;
      if (binding.kind !== 'tensor' || from.kind !== 'tensor') return this.#widen(from, binding);
      const shape = binding.shape.map((dim, axis) => {
        const isUnknown = isUnknownDim(this.closedDim(from.shape[axis] ?? dim));
        return isUnknown && !isUnknownDim(this.closedDim(dim)) ? '?' : dim;
      });
      if (shape.every((dim, axis) => dim === binding.shape[axis])) return false;
      expected.binding = { ...binding, shape };
      return true;
    }
    if (expected.kind !== 'applied' || from.kind !== 'applied') return false;
    if (expected.head === 'function' || !isSameHead(from, expected)) return false;
    const changed = from.args.map(
      (arg, i) => !this.#takes(from, i) && this.#widen(arg, argument(expected, i)),
    );
    return changed.includes(true);
  }

  /** The type of a term, with `?` for open dimensions; `where` is for messages. */
  typeOf(term: Term, unknown: () => Type, where?: string): Type {
    return typeOfTerm(term, { unknown, dim: (dim) => this.closedDim(dim), where });
  }

  /** The dimension as a program may write it. */
  closedDim(dim: Dim): Dim {
    const resolved = this.resolveDim(dim);
    if (typeof resolved === 'number') return resolved;
    const closing = new Map<string, Dim>();
    forEachSymbol(resolved, (symbol) => {
      if (symbol.startsWith(META)) closing.set(symbol, '?');
      else if (symbol.includes("'")) closing.set(symbol, symbol.slice(0, symbol.indexOf("'")));
    });
    const closed = closing.size === 0 ? resolved : substituteDim(resolved, closing);
    return simplifyDim(closed);
  }

  #rename(symbol: string): Dim {
    const end = symbol.indexOf("'");
    return `${end < 0 ? symbol : symbol.slice(0, end)}'${this.#serial++}`;
  }

  /** Parameters against the direction, the result along it. */
  #flowFunction(from: AppliedTerm, expected: AppliedTerm, options: FlowOptions): boolean {
    const inner = { ...options, atRunTime: false };
    const isPolymorphic = from.typeParams.length + expected.typeParams.length > 0;
    const last = expected.args.length - 1;
    if (isPolymorphic || from.args.length !== expected.args.length) return false;
    const { args } = this.#withOpenSizes(from);
    return args.every((arg, i) => {
      const other = argument(expected, i);
      return i === last ? this.flow(arg, other, inner) : this.flow(other, arg, inner);
    });
  }

  /**
   * The type of a function with metavariables for symbols of its parameters that are its own: those that
   * `instantiate` named anew.
   */
  #withOpenSizes(fn: AppliedTerm): AppliedTerm {
    const own = new Set<string>();
    const params = fn.args.slice(0, -1);
    for (const param of params) symbolsOfTerm(param, { intoFunctions: false }, own);
    const ofData = symbolsInData(params);
    const dims = new Map<string, Dim>();
    for (const symbol of own) {
      const isOwn = this.#ownSizes ? !symbol.startsWith(META) : symbol.includes("'");
      if (isOwn) dims.set(symbol, this.#freshSize(symbol, ofData));
    }
    if (dims.size === 0) return fn;
    return { ...fn, args: fn.args.map((arg) => substitute(arg, { types: NO_TYPES, dims })) };
  }

  #joinTensors(from: TensorTerm, expected: TensorTerm, options: FlowOptions): Term | undefined {
    if (!isSameKindOfTensor(from, expected)) return undefined;
    const shape: Dim[] = [];
    for (const [axis, dim] of from.shape.entries()) {
      const other = expected.shape[axis] ?? '?';
      const isClosed = !this.hasOpenDims(other);
      const differs = options.widens === true && isClosed && this.#differ(dim, other);
      const isWider = (isUnknownDim(this.resolveDim(dim)) && isClosed) || differs;
      if (!isWider && !this.#flowDim(dim, other, { ...options, atRunTime: false }))
        return undefined;
      shape.push(isWider ? '?' : other);
    }
    return shape.every((dim, axis) => dim === expected.shape[axis])
      ? expected
      : { ...expected, shape };
  }

  /** Returns true if two dimensions without metavariables are not provably equal. */
  #differ(a: Dim, b: Dim): boolean {
    if (this.hasOpenDims(a)) return false;
    return compareDims(this.resolveDim(a), this.resolveDim(b), this.#facts) !== 'equal';
  }

  #flowDim(actual: Dim, expected: Dim, options: FlowOptions): boolean {
    if (actual === expected) return true;
    const from = this.resolveDim(actual);
    const to = this.resolveDim(expected);
    if (isMetaDim(to)) return this.#bindDim(to, from);
    if (isMetaDim(from)) return this.#bindDim(from, to);
    if (isUnknownDim(to)) return this.#refine(expected, from);
    if (this.hasOpenDims(from) || this.hasOpenDims(to)) {
      this.#postponed.push({ actual, expected, options });
      return true;
    }
    const comparison = isUnknownDim(from) ? 'unknown' : compareDims(from, to, this.#facts);
    if (comparison === 'unknown' && options.atRunTime === true) {
      options.onCheck?.(from, to);
      return true;
    }
    return comparison === 'equal';
  }

  #bindDim(symbol: string, dim: Dim): boolean {
    if (symbol === dim) return true;
    if (this.#exact.has(symbol)) {
      if (isUnknownDim(dim)) return false;
      if (isMetaDim(dim)) this.#exact.add(dim);
    }
    let isCyclic = false;
    forEachSymbol(dim, (other) => {
      isCyclic ||= other === symbol;
    });
    if (!isCyclic) this.#dims.set(symbol, dim);
    return !isCyclic;
  }

  /** A symbol that stood for `?` stands for a dimension that says more: the callee compares them. */
  #refine(expected: Dim, known: Dim): boolean {
    let symbol = expected;
    while (isMetaDim(symbol)) {
      const next: Dim = this.#dims.get(symbol) ?? '?';
      if (next === '?' && !isUnknownDim(known)) this.#dims.set(symbol, known);
      symbol = next;
    }
    return true;
  }
}

function isMetaDim(dim: Dim): dim is string {
  return typeof dim === 'string' && dim.startsWith(META);
}

function symbolsInData(terms: readonly Term[]): ReadonlySet<string> {
  const symbols = new Set<string>();
  const visit = (term: Term): void => {
    const resolved = resolve(term);
    if (resolved.kind !== 'applied') return;
    if (resolved.head === 'adt') symbolsOfTerm(resolved, { intoFunctions: false }, symbols);
    else if (resolved.head === 'tuple') resolved.args.forEach(visit);
  };
  terms.forEach(visit);
  return symbols;
}

function isErrorHead(term: Term): boolean {
  return term.kind === 'applied' && term.head === 'error';
}

function isSameKindOfTensor(a: TensorTerm, b: TensorTerm): boolean {
  return a.dtype === b.dtype && a.shape.length === b.shape.length;
}

function isSameHead(a: AppliedTerm, b: AppliedTerm): boolean {
  return a.head === b.head && a.name === b.name && a.args.length === b.args.length;
}

function argument(term: AppliedTerm, index: number): Term {
  const arg = term.args[index];
  if (arg === undefined) throw new Error('internal: a type has fewer arguments than its like');
  return arg;
}

/** Binds to the type itself, so that what widens this variable leaves the others alone. */
function bind(meta: MetaTerm, term: Term): boolean {
  const target = resolve(term);
  if (target === meta) return true;
  if (occurs(meta, target)) return false;
  meta.binding = target;
  return true;
}

/** Returns true if two types cannot be equal because one would contain itself. */
export function isInfinite(a: Term, b: Term): boolean {
  const [left, right] = [resolve(a), resolve(b)];
  if (left === right) return false;
  if (left.kind === 'meta') return occurs(left, right);
  return right.kind === 'meta' && occurs(right, left);
}

/** Returns true if a metavariable occurs in a type. */
function occurs(meta: MetaTerm, term: Term, seen?: Set<Term>): boolean {
  countWork();
  const resolved = resolve(term);
  if (resolved === meta) return true;
  if (resolved.kind !== 'applied' || seen?.has(resolved) === true) return false;
  // Types share their parts, and are no longer than their trees.
  const all = resolved.depth > 2 ? (seen ?? new Set<Term>()).add(resolved) : seen;
  return resolved.args.some((arg) => occurs(meta, arg, all));
}
