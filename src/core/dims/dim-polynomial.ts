import { countWork } from '../limits/work-meter.ts';

/**
 * Polynomials with integer coefficients over atoms: symbols, and operations that are no sums or
 * products. Two polynomials over independent atoms are equal exactly if their terms are.
 */
export type Polynomial = ReadonlyMap<string, Term>;

export interface Term {
  /** Not 0; a safe integer. */
  readonly coefficient: number;
  /** Factors in the order of their keys, repeated for powers; none for the constant term. */
  readonly factors: readonly Atom[];
}

export type Atom = SymbolAtom | OperationAtom;

interface SymbolAtom {
  readonly kind: 'symbol';
  /** Equal for equal atoms only. */
  readonly key: string;
  readonly name: string;
}

export interface OperationAtom {
  readonly kind: 'operation';
  readonly key: string;
  /** Two operands; two or more for `min` and `max`. Sums and products are atoms if they overflow. */
  readonly op: 'floordiv' | 'mod' | 'min' | 'max' | 'add' | 'sub' | 'mul';
  readonly operands: readonly Polynomial[];
  /** Operations that writing it takes. */
  readonly length: number;
}

/** Products of long sums are left as they are, and those whose terms are long formulas. */
const MAX_TERMS = 64;
const MAX_PRODUCT_LENGTH = 256;

export const ZERO: Polynomial = new Map();

export function constantPolynomial(value: number): Polynomial {
  return value === 0 ? ZERO : new Map([['', { coefficient: value, factors: [] }]]);
}

export function symbolPolynomial(name: string): Polynomial {
  return atomPolynomial({ kind: 'symbol', key: JSON.stringify(name), name });
}

export function operationPolynomial(
  op: OperationAtom['op'],
  operands: readonly Polynomial[],
): Polynomial {
  const key = `${op}(${operands.map(polynomialKey).join(',')})`;
  const length = operands.reduce((sum, operand) => sum + lengthOf(operand) + 1, -1);
  return atomPolynomial({ kind: 'operation', key, op, operands, length });
}

/** Operations that writing a polynomial takes. */
function lengthOf(p: Polynomial): number {
  let length = p.size - 1;
  for (const { factors } of p.values()) {
    for (const factor of factors) length += 1 + (factor.kind === 'symbol' ? 0 : factor.length);
  }
  return Math.max(0, length);
}

function atomPolynomial(atom: Atom): Polynomial {
  return new Map([[atom.key, { coefficient: 1, factors: [atom] }]]);
}

/** Equal for equal polynomials only. */
export function polynomialKey(p: Polynomial): string {
  const terms = [...p].map(([key, { coefficient }]) => `${coefficient}*${key}`);
  return terms.sort().join('+');
}

/** The value of a polynomial without symbols. */
export function constantOf(p: Polynomial): number | undefined {
  if (p.size === 0) return 0;
  return p.size === 1 ? p.get('')?.coefficient : undefined;
}

export function soleAtom(p: Polynomial): Atom | undefined {
  const [term] = p.values();
  if (p.size !== 1 || term?.coefficient !== 1 || term.factors.length !== 1) return undefined;
  return term.factors[0];
}

/** p + scale q; undefined beyond 2^53 or when it grows too long. */
export function addScaled(p: Polynomial, q: Polynomial, scale: number): Polynomial | undefined {
  countWork();
  const sum = new Map(p);
  for (const [key, { coefficient, factors }] of q) {
    const total = (sum.get(key)?.coefficient ?? 0) + coefficient * scale;
    if (!Number.isSafeInteger(total)) return undefined;
    if (total === 0) sum.delete(key);
    else sum.set(key, { coefficient: total, factors });
  }
  return sum.size > MAX_TERMS ? undefined : sum;
}

/** undefined beyond 2^53 or when it grows too long. */
export function multiply(p: Polynomial, q: Polynomial): Polynomial | undefined {
  if (p.size > 1 && q.size > 1) {
    const length = p.size * lengthOf(q) + q.size * lengthOf(p);
    if (length > MAX_PRODUCT_LENGTH) return undefined;
  }
  let product: Polynomial | undefined = ZERO;
  for (const term of p.values()) {
    product = product && addScaled(product, timesFactors(q, term.factors), term.coefficient);
  }
  return product;
}

function timesFactors(p: Polynomial, factors: readonly Atom[]): Polynomial {
  if (factors.length === 0) return p;
  return polynomialOfTerms(
    [...p.values()].map((term) => ({
      coefficient: term.coefficient,
      factors: [...term.factors, ...factors].sort(byKey),
    })),
  );
}

/** Terms with different factors, each list in order. */
export function polynomialOfTerms(terms: Iterable<Term>): Polynomial {
  const p = new Map<string, Term>();
  for (const term of terms) p.set(term.factors.map(({ key }) => key).join('*'), term);
  return p;
}

function byKey(a: Atom, b: Atom): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** The factors without those of `divisor`; undefined when one of them is not there. */
export function withoutFactors(
  factors: readonly Atom[],
  divisor: readonly Atom[],
): Atom[] | undefined {
  const rest = [...factors];
  for (const { key } of divisor) {
    const index = rest.findIndex((factor) => factor.key === key);
    if (index < 0) return undefined;
    rest.splice(index, 1);
  }
  return rest;
}

/** Divides every term, which must be divisible. */
export function divideTerms(p: Polynomial, { coefficient, factors }: Term): Polynomial {
  return polynomialOfTerms(
    [...p.values()].map((term) => ({
      coefficient: term.coefficient / coefficient,
      factors: withoutFactors(term.factors, factors) ?? [],
    })),
  );
}

/** The largest term, with a positive coefficient, that divides every term of all polynomials. */
export function commonTerm(polynomials: readonly Polynomial[]): Term {
  let coefficient = 0;
  let factors: Atom[] | undefined;
  for (const p of polynomials) {
    for (const term of p.values()) {
      coefficient = greatestCommonDivisor(coefficient, term.coefficient);
      factors = factors === undefined ? [...term.factors] : shared(factors, term.factors);
    }
  }
  return { coefficient: coefficient === 0 ? 1 : coefficient, factors: factors ?? [] };
}

function shared(a: readonly Atom[], b: readonly Atom[]): Atom[] {
  const rest = b.map(({ key }) => key);
  return a.filter(({ key }) => {
    const index = rest.indexOf(key);
    if (index >= 0) rest.splice(index, 1);
    return index >= 0;
  });
}

export function greatestCommonDivisor(a: number, b: number): number {
  let [x, y] = [Math.abs(a), Math.abs(b)];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** The term of the highest degree; among equals that of the first atoms (graded lexicographic). */
export function leadingTerm(p: Polynomial): Term | undefined {
  let leading: Term | undefined;
  for (const term of p.values()) {
    if (leading === undefined || precedes(term.factors, leading.factors)) leading = term;
  }
  return leading;
}

function precedes(a: readonly Atom[], b: readonly Atom[]): boolean {
  if (a.length !== b.length) return a.length > b.length;
  for (const [i, { key }] of a.entries()) {
    const other = b[i]?.key ?? key;
    if (key !== other) return key < other;
  }
  return false;
}

/** p / d where it leaves no rest, by long division; undefined otherwise. */
export function exactQuotient(p: Polynomial, d: Polynomial): Polynomial | undefined {
  const divisor = leadingTerm(d);
  let rest: Polynomial | undefined = p;
  let quotient: Polynomial | undefined = ZERO;
  while (rest !== undefined && quotient !== undefined) {
    const term = leadingTerm(rest);
    if (term === undefined) return quotient;
    const factors = divisor && withoutFactors(term.factors, divisor.factors);
    if (divisor === undefined || factors === undefined) return undefined;
    const coefficient = term.coefficient / divisor.coefficient;
    if (!Number.isSafeInteger(coefficient)) return undefined;
    const step = polynomialOfTerms([{ coefficient, factors }]);
    quotient = addScaled(quotient, step, 1);
    const taken = multiply(step, d);
    rest = taken && addScaled(rest, taken, -1);
  }
  return undefined;
}
