import { MAX_DIMENSION } from './dim.ts';
import {
  addScaled,
  type Atom,
  constantOf,
  constantPolynomial,
  multiply,
  type OperationAtom,
  type Polynomial,
  type Term,
} from './dim-polynomial.ts';

/** Bounds of a symbol that the user knows; both ends are included. */
export interface DimBounds {
  readonly min?: number;
  readonly max?: number;
}

/** Bounds of symbols by name. Any other symbol is from 0 to {@link MAX_DIMENSION}. */
export type DimFacts = ReadonlyMap<string, DimBounds>;

type Interval = readonly [number, number];

const EVERYTHING: Interval = [-Infinity, Infinity];

/** How many operations a proof takes apart, one inside the other. */
const MAX_DEPTH = 4;

/** How many polynomials a proof looks at. */
const MAX_CANDIDATES = 256;

const INTERVALS = new WeakMap<DimFacts, WeakMap<Polynomial, Interval>>();

/** Bounds of a polynomial by interval arithmetic, term by term. */
export function intervalOf(p: Polynomial, facts: DimFacts): Interval {
  const known = INTERVALS.get(facts) ?? new WeakMap<Polynomial, Interval>();
  INTERVALS.set(facts, known);
  let interval = known.get(p);
  if (interval === undefined) {
    interval = sumOfIntervals(p, facts);
    known.set(p, interval);
  }
  return interval;
}

function sumOfIntervals(p: Polynomial, facts: DimFacts): Interval {
  let [low, high] = [0, 0];
  for (const { coefficient, factors } of p.values()) {
    let range: Interval = [coefficient, coefficient];
    for (const factor of factors) range = product(range, atomInterval(factor, facts));
    low += range[0];
    high += range[1];
  }
  return [low, high];
}

function product([a, b]: Interval, [c, d]: Interval): Interval {
  const corners = [times(a, c), times(a, d), times(b, c), times(b, d)];
  return [Math.min(...corners), Math.max(...corners)];
}

function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b;
}

function atomInterval(atom: Atom, facts: DimFacts): Interval {
  if (atom.kind === 'symbol') {
    const { min = 0, max = MAX_DIMENSION } = facts.get(atom.name) ?? {};
    return [min, max];
  }
  const ranges = atom.operands.map((operand) => intervalOf(operand, facts));
  const [left = EVERYTHING, right = EVERYTHING] = ranges;
  switch (atom.op) {
    case 'min':
      return [Math.min(...ranges.map(([low]) => low)), Math.min(...ranges.map(([, h]) => h))];
    case 'max':
      return [Math.max(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, h]) => h))];
    case 'floordiv':
      return quotient(left, right);
    case 'mod':
      return remainder(left, right);
    case 'add':
      return [left[0] + right[0], left[1] + right[1]];
    case 'sub':
      return [left[0] - right[1], left[1] - right[0]];
    case 'mul':
      return product(left, right);
    default:
      return atom.op satisfies never;
  }
}

/** A divisor of 0 has no quotient, so that one which is not negative is positive. */
function quotient([low, high]: Interval, divisor: Interval): Interval {
  if (divisor[0] < 0) return EVERYTHING;
  const [least, most] = [Math.max(divisor[0], 1), Math.max(divisor[1], 1)];
  return [Math.floor(low / (low < 0 ? least : most)), Math.floor(high / (high < 0 ? most : least))];
}

function remainder([low, high]: Interval, divisor: Interval): Interval {
  if (divisor[0] < 0) return EVERYTHING;
  const most = Math.max(divisor[1] - 1, 0);
  return [0, low >= 0 ? Math.min(high, most) : most];
}

/**
 * Proves p >= 0 for all values of its symbols within their bounds. `false`: not proved.
 *
 * Interval arithmetic forgets that an atom stands in two terms; replacing operations by their
 * bounds (`min(a, b)` is at most `a`, `c * floordiv(a, c)` is at most `a`) lets terms cancel.
 */
export function proveNonNegative(p: Polynomial, facts: DimFacts): boolean {
  return isProved(p, { facts, candidatesLeft: MAX_CANDIDATES }, MAX_DEPTH);
}

interface Proof {
  readonly facts: DimFacts;
  candidatesLeft: number;
}

function isProved(p: Polynomial, proof: Proof, depth: number): boolean {
  if (intervalOf(p, proof.facts)[0] >= 0) return true;
  if (depth === 0 || --proof.candidatesLeft < 0) return false;
  for (const term of p.values()) {
    const [atom, ...more] = term.factors;
    if (atom?.kind !== 'operation' || more.length > 0) continue;
    const { all, candidates } = lowerBounds(p, term, atom);
    if (candidates.length === 0) continue;
    const prove = (q: Polynomial | undefined) => q !== undefined && isProved(q, proof, depth - 1);
    if (all ? candidates.every(prove) : candidates.some(prove)) return true;
  }
  return false;
}

interface LowerBounds {
  /** p >= 0 if all of the candidates are; otherwise if one of them is. */
  readonly all: boolean;
  readonly candidates: readonly (Polynomial | undefined)[];
}

/** Polynomials without the operation `atom` of `term`, whose sign bounds that of p. */
function lowerBounds(p: Polynomial, term: Term, { op, operands }: OperationAtom): LowerBounds {
  const { coefficient } = term;
  const rest = addScaled(p, new Map([[termKey(term), term]]), -1);
  if (op === 'min' || op === 'max') {
    const candidates = operands.map((operand) => rest && addScaled(rest, operand, coefficient));
    return { all: coefficient > 0 === (op === 'min'), candidates };
  }
  const [left, right] = operands;
  const divisor = right === undefined ? undefined : constantOf(right);
  if (op !== 'floordiv' || left === undefined || divisor === undefined || divisor <= 0) {
    return { all: false, candidates: [] };
  }
  // divisor * floordiv(left, divisor) is from left - divisor + 1 to left.
  const scaled = rest && multiply(rest, constantPolynomial(divisor));
  const slack = coefficient > 0 ? coefficient * (1 - divisor) : 0;
  const bound = scaled && addScaled(scaled, left, coefficient);
  return { all: false, candidates: [bound && addScaled(bound, constantPolynomial(1), slack)] };
}

function termKey({ factors }: Term): string {
  return factors.map(({ key }) => key).join('*');
}
