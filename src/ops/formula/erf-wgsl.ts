import { vectorwise } from './transcendental-wgsl.ts';

/**
 * WGSL has no erf. Away from zero formula 7.1.26 of Abramowitz and Stegun, whose error is at most
 * 1.5e-7; below 0.05 two terms of the Taylor series, so that the relative error stays small.
 */
export const ERF: Readonly<Record<string, string>> = vectorwise(
  'erf',
  'select(far, x * (1.1283791671 - 0.3761263890 * x * x), a < T(0.05))',
  `  let a = min(abs(x), T(4.0));
  let t = 1.0 / (1.0 + 0.3275911 * a);
  let p = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  let size = 1.0 - p * exp(-a * a);
  let far = select(size, -size, x < T());
`,
);
