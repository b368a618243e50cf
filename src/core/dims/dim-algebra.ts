import { isUnknownDim } from './dim-symbols.ts';
import type { Dim, DimExpression, DimOperator } from './dim.ts';
import { type DimFacts, intervalOf, proveNonNegative } from './dim-bounds.ts';
import { asPositivePart, divideDims, extremumOf, remainderOf } from './dim-division.ts';
import {
  addScaled,
  type Atom,
  constantPolynomial,
  multiply,
  operationPolynomial,
  type Polynomial,
  symbolPolynomial,
  type Term,
} from './dim-polynomial.ts';

/** Nothing but that symbols are dimensions. */
export const NO_FACTS: DimFacts = new Map();

/**
 * The dimension in canonical form: a sum of products of symbols and of those `floordiv`, `mod`,
 * `min` and `max` that cannot be taken apart. Wherever the dimension has a value under symbols
 * within `facts`, the result has the same. A dimension with `'?'` in it is `'?'`.
 */
export function simplifyDim(dim: Dim, facts: DimFacts = NO_FACTS): Dim {
  if (typeof dim !== 'object') return dim;
  const known = formsUnder(facts).simple;
  let simple = known.get(dim);
  if (simple === undefined) {
    simple = isUnknownDim(dim) ? '?' : dimOf(polynomialOf(dim, { facts, isProof: false }));
    known.set(dim, simple);
    if (typeof simple === 'object') known.set(simple, simple);
  }
  return simple;
}

/** Results by expression: the types of a program share their dimensions, and these their parts. */
interface Forms {
  readonly simple: WeakMap<DimExpression, Dim>;
  readonly canonical: WeakMap<DimExpression, Polynomial>;
  readonly forProofs: WeakMap<DimExpression, Polynomial>;
}

const FORMS = new WeakMap<DimFacts, Forms>();

function formsUnder(facts: DimFacts): Forms {
  let forms = FORMS.get(facts);
  if (forms === undefined) {
    forms = { simple: new WeakMap(), canonical: new WeakMap(), forProofs: new WeakMap() };
    FORMS.set(facts, forms);
  }
  return forms;
}

/** Proves that both have the same value under all symbols within `facts`. `false`: not proved. */
export function proveEqual(left: Dim, right: Dim, facts: DimFacts = NO_FACTS): boolean {
  const difference = differenceOf(left, right, facts);
  return difference !== undefined && difference.size === 0;
}

/** Proves that both differ under all symbols within `facts`. `false`: not proved. */
export function proveDifferent(left: Dim, right: Dim, facts: DimFacts = NO_FACTS): boolean {
  return proveLess(left, right, facts) || proveLess(right, left, facts);
}

/** Proves left <= right under all symbols within `facts`. `false`: not proved. */
export function proveLessEqual(left: Dim, right: Dim, facts: DimFacts = NO_FACTS): boolean {
  const difference = differenceOf(right, left, facts);
  return difference !== undefined && proveNonNegative(difference, facts);
}

/** Proves left < right under all symbols within `facts`. `false`: not proved. */
export function proveLess(left: Dim, right: Dim, facts: DimFacts = NO_FACTS): boolean {
  return proveLessEqual({ op: 'add', left, right: 1 }, right, facts);
}

/** The least and the largest value, as far as interval arithmetic knows them. */
export function boundsOfDim(dim: Dim, facts: DimFacts = NO_FACTS): readonly [number, number] {
  if (isUnknownDim(dim)) return [0, Infinity];
  return intervalOf(polynomialOf(dim, { facts, isProof: false }), facts);
}

/** left - right in the form for proofs. */
function differenceOf(left: Dim, right: Dim, facts: DimFacts): Polynomial | undefined {
  if (isUnknownDim(left) || isUnknownDim(right)) return undefined;
  return polynomialOf({ op: 'sub', left, right }, { facts, isProof: true });
}

interface CanonicalOptions {
  readonly facts: DimFacts;
  /**
   * Writes `mod`, `min` and `max` with fewer operations, so that more of what is equal looks the
   * same: a mod b is a - b floordiv(a, b), min(a, b) is a - max(a - b, 0).
   */
  readonly isProof: boolean;
}

function polynomialOf(dim: Dim, options: CanonicalOptions): Polynomial {
  if (typeof dim === 'number') return constantPolynomial(dim);
  if (typeof dim === 'string') return symbolPolynomial(dim);
  const { canonical, forProofs } = formsUnder(options.facts);
  const known = options.isProof ? forProofs : canonical;
  let polynomial = known.get(dim);
  if (polynomial === undefined) {
    const left = polynomialOf(dim.left, options);
    const right = polynomialOf(dim.right, options);
    polynomial =
      combine(dim.op, [left, right], options) ?? operationPolynomial(dim.op, [left, right]);
    known.set(dim, polynomial);
  }
  return polynomial;
}

function combine(
  op: DimOperator,
  [left, right]: readonly [Polynomial, Polynomial],
  { facts, isProof }: CanonicalOptions,
): Polynomial | undefined {
  switch (op) {
    case 'add':
      return addScaled(left, right, 1);
    case 'sub':
      return addScaled(left, right, -1);
    case 'mul':
      return multiply(left, right);
    case 'floordiv':
      return divideDims(left, right, facts);
    case 'mod': {
      if (!isProof) return remainderOf(left, right, facts);
      const quotient = divideDims(left, right, facts);
      const taken = quotient && multiply(quotient, right);
      return taken && addScaled(left, taken, -1);
    }
    case 'min':
    case 'max': {
      const extremum = extremumOf(op, [left, right], facts);
      return isProof ? asPositivePart(extremum, facts) : extremum;
    }
    default:
      return op satisfies never;
  }
}

/** Polynomials as dimensions: those of atoms stand in many. */
const DIMS = new WeakMap<Polynomial, Dim>();

function dimOf(p: Polynomial): Dim {
  let dim = DIMS.get(p);
  if (dim === undefined) {
    dim = writtenDim(p);
    DIMS.set(p, dim);
  }
  return dim;
}

/** `n * 2 + m - k + 1`: positive terms first, in order of their keys, the constant last. */
function writtenDim(p: Polynomial): Dim {
  const terms = [...p].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, term]) => term);
  const products = terms.filter(({ factors }) => factors.length > 0);
  const constant = terms.find(({ factors }) => factors.length === 0)?.coefficient ?? 0;
  const positive = products.filter(({ coefficient }) => coefficient > 0);
  const negative = products.filter(({ coefficient }) => coefficient < 0);
  let sum = sumOf(positive.map(termDim));
  let rest = constant;
  if (sum === undefined && constant > 0) [sum, rest] = [constant, 0];
  const [first, ...others] = negative;
  if (sum === undefined && first !== undefined) {
    sum = termDim(first);
    negative.splice(0, negative.length, ...others);
  }
  const taken = negative.map((term) => termDim({ ...term, coefficient: -term.coefficient }));
  const most = taken.length > MAX_CHAIN ? [sumOf(taken)] : taken;
  for (const right of most) {
    if (sum !== undefined && right !== undefined) sum = { op: 'sub', left: sum, right };
  }
  if (sum === undefined) return rest;
  if (rest === 0) return sum;
  return rest > 0 ? plus(sum, rest) : { op: 'sub', left: sum, right: -rest };
}

/** Longer sums are written as sums of halves, since files and stacks hold formulas of few levels only. */
const MAX_CHAIN = 8;

function sumOf(dims: readonly Dim[]): Dim | undefined {
  const half = dims.length >> 1;
  const [left, right] =
    dims.length > MAX_CHAIN ? [sumOf(dims.slice(0, half)), sumOf(dims.slice(half))] : [];
  if (left !== undefined && right !== undefined) return plus(left, right);
  return dims.length === 0 ? undefined : dims.reduce(plus);
}

function plus(left: Dim, right: Dim): Dim {
  return { op: 'add', left, right };
}

function termDim({ coefficient, factors }: Term): Dim {
  const dims = factors.map(atomDim);
  if (coefficient !== 1) dims.push(coefficient);
  return dims.reduce((left, right) => ({ op: 'mul', left, right }));
}

function atomDim(atom: Atom): Dim {
  if (atom.kind === 'symbol') return atom.name;
  return atom.operands.map(dimOf).reduce((left, right) => ({ op: atom.op, left, right }));
}
