import type { IntrinsicName } from './expression.ts';

/** An intrinsic on the host: of floats in double precision, of integers modulo 2^32 or 2^64. */
export interface HostIntrinsic {
  readonly float: (a: number, b: number) => number;
  readonly integer?: (a: number, b: number) => number;
  readonly wide?: (a: bigint, b: bigint) => bigint;
}

export const HOST_INTRINSICS: Readonly<Record<IntrinsicName, HostIntrinsic>> = {
  exp: { float: Math.exp },
  log: { float: Math.log },
  log1p: { float: Math.log1p },
  sigmoid: { float: (x) => 1 / (1 + Math.exp(-x)) },
  erf: { float: erf },
  sin: { float: Math.sin },
  cos: { float: Math.cos },
  tan: { float: Math.tan },
  asin: { float: Math.asin },
  acos: { float: Math.acos },
  atan: { float: Math.atan },
  sinh: { float: Math.sinh },
  cosh: { float: Math.cosh },
  tanh: { float: Math.tanh },
  asinh: { float: Math.asinh },
  acosh: { float: Math.acosh },
  atanh: { float: Math.atanh },
  pow: { float: floatPower, integer: integerPower, wide: widePower },
  quotient: { float: (a, b) => Math.fround(a / b) },
};

/**
 * The error function in double precision, by the series
 * 2/sqrt(pi) * exp(-x^2) * sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1)), whose terms are all of one
 * sign. (DLMF 7.6.2)
 */
export function erf(x: number): number {
  if (Number.isNaN(x)) return x;
  // erfc(6) is 2e-17: below half a unit in the last place of 1.
  if (Math.abs(x) >= 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** As IEEE pow; in JavaScript, 1 to an unknown power and -1 to an infinite one are NaN. */
export function floatPower(a: number, b: number): number {
  return a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b;
}

/** a^b in 32 bits, wrapping; a negative exponent gives what rounding 1 / a^-b towards zero gives. */
export function integerPower(a: number, b: number): number {
  if (b < 0) return a === 1 ? 1 : a === -1 ? (b % 2 === 0 ? 1 : -1) : 0;
  let result = 1;
  let base = a;
  for (let rest = b; rest > 0; rest = Math.floor(rest / 2)) {
    if ((rest & 1) === 1) result = Math.imul(result, base);
    base = Math.imul(base, base);
  }
  return result;
}

/** `integerPower` for 64 bits. */
export function widePower(a: bigint, b: bigint): bigint {
  if (b < 0n) return a === 1n ? 1n : a === -1n ? (b % 2n === 0n ? 1n : -1n) : 0n;
  let result = 1n;
  let base = a;
  for (let rest = b; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = BigInt.asUintN(64, result * base);
    base = BigInt.asUintN(64, base * base);
  }
  return result;
}
