import { casesOfEach, type CasesOf, unary } from './elementwise.cases.ts';
import { TRANSCENDENTAL_OPS } from './elementwise-unary.ts';

const ANGLES = [0, -0.7, 0.785398, 0.7854, 1.6, -3.2, 100.5, -8192.25, 1e6, -1e10, 1e20, 3.4e38];
const UNIT = [-1, -0.99, -0.5, -0.49, 0, 1e-4, 0.5, 0.51, 0.999, 1];

interface FunctionCases {
  readonly summary: string;
  readonly range: readonly [number, number];
  /** Arguments far from the range, or where formulas change. */
  readonly corners: readonly number[];
}

function ofFunction({ corners: values, ...spec }: FunctionCases): CasesOf {
  const inputs = [{ dtype: 'float32', shape: [values.length], values }] as const;
  return unary({ ...spec, cases: [{ title: 'corners', inputs }] });
}

export const TRANSCENDENTAL_CASES = casesOfEach(TRANSCENDENTAL_OPS, {
  sin: ofFunction({
    summary: 'The sine, of angles of any size.',
    range: [-20, 20],
    corners: ANGLES,
  }),
  cos: ofFunction({
    summary: 'The cosine, of angles of any size.',
    range: [-20, 20],
    corners: ANGLES,
  }),
  tan: ofFunction({
    summary: 'The tangent, of angles of any size.',
    range: [-1.5, 1.5],
    corners: ANGLES,
  }),
  asin: ofFunction({
    summary: 'The arc sine; NaN outside of [-1, 1].',
    range: [-1, 1],
    corners: UNIT,
  }),
  acos: ofFunction({
    summary: 'The arc cosine; NaN outside of [-1, 1].',
    range: [-1, 1],
    corners: UNIT,
  }),
  atan: ofFunction({
    summary: 'The arc tangent.',
    range: [-5, 5],
    corners: [-1e30, -100, -2.4, -0.42, -0.4, 0, 1e-5, 0.5, 2.5, 1e6, 3e38],
  }),
  sinh: ofFunction({
    summary: 'The hyperbolic sine.',
    range: [-5, 5],
    corners: [-88, -20, -1, -0.99, -1e-3, 0, 1e-5, 1.01, 30, 89],
  }),
  cosh: ofFunction({
    summary: 'The hyperbolic cosine.',
    range: [-5, 5],
    corners: [-88, -20, -1, 0, 1e-3, 3, 30, 89],
  }),
  asinh: ofFunction({
    summary: 'The area hyperbolic sine.',
    range: [-10, 10],
    corners: [-1e38, -1e10, -1e5, -0.5, 0, 1e-5, 0.1, 3, 1e9, 1e20],
  }),
  acosh: ofFunction({
    summary: 'The area hyperbolic cosine; NaN below 1.',
    range: [1, 10],
    corners: [1, 1.0001, 1.1, 2, 100, 1e9, 1e10, 1e38],
  }),
  atanh: ofFunction({
    summary: 'The area hyperbolic tangent; NaN outside of [-1, 1].',
    range: [-0.95, 0.95],
    corners: [-0.9999, -0.5, -1e-4, 0, 1e-5, 0.3, 0.75, 0.999],
  }),
  log1p: ofFunction({
    summary: 'log(1 + x), also for small x; NaN below -1.',
    range: [-0.9, 10],
    corners: [-0.999, -0.5, -1e-6, 0, 1e-10, 1e-4, 0.5, 0.6, 1e5, 1e30],
  }),
});
