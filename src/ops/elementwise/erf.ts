import { vectorwise } from './transcendental-wgsl.ts';

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

/**
 * WGSL has no erf. Away from zero formula 7.1.26 of Abramowitz and Stegun, whose error is at most
 * 1.5e-7; below 0.05 two terms of the Taylor series, so that the relative error stays small.
 */
export const ERF_DECLARATIONS: Readonly<Record<string, string>> = vectorwise(
  'erf',
  'select(far, x * (1.1283791671 - 0.3761263890 * x * x), a < T(0.05))',
  `  let a = min(abs(x), T(4.0));
  let t = 1.0 / (1.0 + 0.3275911 * a);
  let p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  let size = 1.0 - p * exp(-a * a);
  let far = select(size, -size, x < T());
`,
);
