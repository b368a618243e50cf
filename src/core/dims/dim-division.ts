import { type DimFacts, intervalOf, proveNonNegative } from './dim-bounds.ts';
import {
  addScaled,
  commonTerm,
  constantOf,
  constantPolynomial,
  divideTerms,
  exactQuotient,
  greatestCommonDivisor,
  leadingTerm,
  multiply,
  operationPolynomial,
  type Polynomial,
  polynomialKey,
  polynomialOfTerms,
  soleAtom,
  type Term,
  withoutFactors,
  ZERO,
} from './dim-polynomial.ts';

/**
 * floordiv(p, d) in canonical form. Where d may be 0 there is no value, so that a factor of both
 * may be taken out. Undefined beyond 2^53.
 */
export function divideDims(p: Polynomial, d: Polynomial, facts: DimFacts): Polynomial | undefined {
  const divisor = constantOf(d);
  if (divisor === 0) return undefined;
  const negated = negateIfNegative(p, d);
  if (negated !== undefined) return divideDims(negated.p, negated.d, facts);
  return divisor === undefined ? divideBySymbols(p, d, facts) : divideByNumber(p, divisor, facts);
}

/** p mod d in canonical form; it has the sign of d. Undefined beyond 2^53. */
export function remainderOf(p: Polynomial, d: Polynomial, facts: DimFacts): Polynomial | undefined {
  if (constantOf(d) === 0) return undefined;
  const negated = negateIfNegative(p, d);
  if (negated !== undefined) {
    const rest = remainderOf(negated.p, negated.d, facts);
    return rest && addScaled(ZERO, rest, -1);
  }
  if (exactQuotient(p, d) !== undefined) return ZERO;
  const { rest } = splitMultiples(p, d);
  // g a mod g b is g (a mod b).
  const common = commonTerm([rest.varying, d]);
  const [a, b] = [divideTerms(rest.varying, common), divideTerms(d, common)];
  const shift = Math.floor(rest.constant / common.coefficient);
  const kept = rest.constant - shift * common.coefficient;
  // With a constant beside the multiples of g, only of a number g, and below a positive divisor.
  const isSafe = common.factors.length === 0 && proveNonNegative(d, facts);
  if (rest.constant !== 0 && !isSafe) return smallRemainder(sum(rest), d, facts);
  const inner = smallRemainder(plusConstant(a, shift), b, facts);
  const scaled = multiply(inner, polynomialOfTerms([common]));
  return scaled && addScaled(scaled, constantPolynomial(kept), 1);
}

function smallRemainder(p: Polynomial, d: Polynomial, facts: DimFacts): Polynomial {
  if (p.size === 0) return ZERO;
  return isBelow(p, d, facts) ? p : operationPolynomial('mod', [p, d]);
}

/** Both with the other sign when the leading coefficient of the divisor is negative. */
function negateIfNegative(
  p: Polynomial,
  d: Polynomial,
): { readonly p: Polynomial; readonly d: Polynomial } | undefined {
  if ((leadingTerm(d)?.coefficient ?? 0) > 0) return undefined;
  const negated = { p: addScaled(ZERO, p, -1), d: addScaled(ZERO, d, -1) };
  return negated.p && negated.d && { p: negated.p, d: negated.d };
}

function divideByNumber(p: Polynomial, divisor: number, facts: DimFacts): Polynomial | undefined {
  const { quotient, rest } = splitMultiples(p, constantPolynomial(divisor));
  if (rest.varying.size === 0) return quotient;
  // floordiv(g a + k, g c) is floordiv(a + floordiv(k, g), c).
  const factor = greatestCommonDivisor(commonTerm([rest.varying]).coefficient, divisor);
  const scaled = divideTerms(rest.varying, { coefficient: factor, factors: [] });
  const dividend = plusConstant(scaled, Math.floor(rest.constant / factor));
  const fraction = divideReduced(dividend, divisor / factor, facts);
  return fraction && addScaled(quotient, fraction, 1);
}

function divideReduced(p: Polynomial, divisor: number, facts: DimFacts): Polynomial | undefined {
  const [low, high] = intervalOf(p, facts);
  const least = Math.floor(low / divisor);
  if (least === Math.floor(high / divisor)) return constantPolynomial(least);
  const nested = nestedDivision(p, divisor);
  if (nested !== undefined) return divideByNumber(nested.p, nested.divisor, facts);
  return operationPolynomial('floordiv', [p, constantPolynomial(divisor)]);
}

/** floordiv(floordiv(a, b) + k, c) as floordiv(a + k b, b c). */
function nestedDivision(
  p: Polynomial,
  divisor: number,
): { readonly p: Polynomial; readonly divisor: number } | undefined {
  const constant = p.get('')?.coefficient ?? 0;
  const atom = soleAtom(plusConstant(p, -constant));
  if (atom?.kind !== 'operation' || atom.op !== 'floordiv') return undefined;
  const [inner, by] = atom.operands;
  const innerDivisor = by === undefined ? undefined : constantOf(by);
  if (inner === undefined || innerDivisor === undefined || innerDivisor <= 0) return undefined;
  const shifted = addScaled(inner, constantPolynomial(1), constant * innerDivisor);
  const product = innerDivisor * divisor;
  if (shifted === undefined || !Number.isSafeInteger(product)) return undefined;
  return { p: shifted, divisor: product };
}

function divideBySymbols(p: Polynomial, d: Polynomial, facts: DimFacts): Polynomial | undefined {
  const exact = exactQuotient(p, d);
  if (exact !== undefined) return exact;
  const split = splitMultiples(p, d);
  const { quotient } = split;
  const rest = sum(split.rest);
  const common = commonTerm([rest, d]);
  const [a, b] = [divideTerms(rest, common), divideTerms(d, common)];
  const divisor = constantOf(b);
  const fraction =
    divisor !== undefined
      ? divideByNumber(a, divisor, facts)
      : isBelow(a, b, facts)
        ? ZERO
        : operationPolynomial('floordiv', [a, b]);
  return fraction && addScaled(quotient, fraction, 1);
}

/** Proves 0 <= p < d. `false`: not proved. */
function isBelow(p: Polynomial, d: Polynomial, facts: DimFacts): boolean {
  const difference = addScaled(d, p, -1);
  const room = difference && addScaled(difference, constantPolynomial(1), -1);
  return room !== undefined && proveNonNegative(p, facts) && proveNonNegative(room, facts);
}

interface Split {
  readonly quotient: Polynomial;
  readonly rest: { readonly varying: Polynomial; readonly constant: number };
}

/** p as quotient * d + rest, term by term; only a divisor of one term has such multiples. */
function splitMultiples(p: Polynomial, d: Polynomial): Split {
  const [divisor] = d.values();
  const quotient: Term[] = [];
  const varying: Term[] = [];
  let constant = 0;
  for (const term of p.values()) {
    const factors =
      divisor === undefined || d.size > 1
        ? undefined
        : withoutFactors(term.factors, divisor.factors);
    const multiple =
      factors === undefined || divisor === undefined
        ? 0
        : Math.floor(term.coefficient / divisor.coefficient);
    if (multiple !== 0) quotient.push({ coefficient: multiple, factors: factors ?? [] });
    const coefficient = term.coefficient - multiple * (divisor?.coefficient ?? 0);
    if (coefficient === 0) continue;
    if (term.factors.length === 0) constant = coefficient;
    else varying.push({ coefficient, factors: term.factors });
  }
  return {
    quotient: polynomialOfTerms(quotient),
    rest: { varying: polynomialOfTerms(varying), constant },
  };
}

function sum({ varying, constant }: Split['rest']): Polynomial {
  return plusConstant(varying, constant);
}

/** For sums that cannot overflow: a constant below a divisor, or taken from p itself. */
function plusConstant(p: Polynomial, constant: number): Polynomial {
  const total = (p.get('')?.coefficient ?? 0) + constant;
  const others = [...p.values()].filter(({ factors }) => factors.length > 0);
  return polynomialOfTerms(total === 0 ? others : [...others, { coefficient: total, factors: [] }]);
}

/** The least or the largest of the operands in canonical form. */
export function extremumOf(
  op: 'min' | 'max',
  operands: readonly Polynomial[],
  facts: DimFacts,
): Polynomial {
  const flat = operands.flatMap((operand) => {
    const atom = soleAtom(operand);
    return atom?.kind === 'operation' && atom.op === op ? atom.operands : [operand];
  });
  const distinct = [...new Map(flat.map((operand) => [polynomialKey(operand), operand]))]
    .sort(constantsLast)
    .map(([, operand]) => operand);
  const kept: Polynomial[] = [];
  for (const candidate of distinct) {
    if (kept.some((other) => wins(op, [other, candidate], facts))) continue;
    const rest = kept.filter((other) => !wins(op, [candidate, other], facts));
    kept.splice(0, kept.length, ...rest, candidate);
  }
  const [only] = kept;
  return only !== undefined && kept.length === 1 ? only : operationPolynomial(op, kept);
}

function constantsLast(
  [a, left]: readonly [string, Polynomial],
  [b, right]: readonly [string, Polynomial],
): number {
  const order = Number(constantOf(left) !== undefined) - Number(constantOf(right) !== undefined);
  return order !== 0 ? order : a < b ? -1 : 1;
}

/** max(a, b) as b + max(a - b, 0) and so on, where the leading coefficient of a - b is positive. */
export function asPositivePart(p: Polynomial, facts: DimFacts): Polynomial {
  const atom = soleAtom(p);
  if (atom?.kind !== 'operation' || (atom.op !== 'min' && atom.op !== 'max')) return p;
  const [first, second, ...more] = atom.operands;
  if (first === undefined || second === undefined || more.length > 0) return p;
  const negated = negateIfNegative(first, addScaled(first, second, -1) ?? ZERO) !== undefined;
  const [a, b] = negated ? [second, first] : [first, second];
  const difference = addScaled(a, b, -1);
  const part = difference && extremumOf('max', [difference, ZERO], facts);
  const result = part && (atom.op === 'max' ? addScaled(b, part, 1) : addScaled(a, part, -1));
  return result ?? p;
}

/** Proves that the first is always the result of `op` with the second. `false`: not proved. */
function wins(
  op: 'min' | 'max',
  [first, second]: readonly [Polynomial, Polynomial],
  facts: DimFacts,
): boolean {
  const [least, most] = op === 'min' ? [first, second] : [second, first];
  const room = addScaled(most, least, -1);
  return room !== undefined && proveNonNegative(room, facts);
}
