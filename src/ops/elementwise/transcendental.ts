import type { OpDefinition } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { IntrinsicName } from '../formula/expression.ts';
import { INTRINSICS } from '../formula/intrinsics.ts';
import { defineUnary } from './elementwise-unary.ts';
import { FLOATS } from './number-dtypes.ts';

interface FunctionSpec {
  readonly name: IntrinsicName;
  readonly summary: string;
  readonly range?: readonly [number, number];
  /** Arguments far from the range, or where formulas change. */
  readonly caseValues: readonly number[];
}

function defineFunction({ caseValues: values, ...spec }: FunctionSpec): OpDefinition {
  return defineUnary({
    ...spec,
    dtypes: FLOATS,
    formula: f.intrinsic(spec.name, f.X),
    tolerance: INTRINSICS[spec.name].tolerance,
    cases: [{ title: 'corners', inputs: [{ dtype: 'float32', shape: [values.length], values }] }],
  });
}

const ANGLES = [0, -0.7, 0.785398, 0.7854, 1.6, -3.2, 100.5, -8192.25, 1e6, -1e10, 1e20, 3.4e38];
const UNIT = [-1, -0.99, -0.5, -0.49, 0, 1e-4, 0.5, 0.51, 0.999, 1];

export const TRANSCENDENTAL_OPS: readonly OpDefinition[] = [
  defineFunction({
    name: 'sin',
    summary: 'The sine, of angles of any size.',
    range: [-20, 20],
    caseValues: ANGLES,
  }),
  defineFunction({
    name: 'cos',
    summary: 'The cosine, of angles of any size.',
    range: [-20, 20],
    caseValues: ANGLES,
  }),
  defineFunction({
    name: 'tan',
    summary: 'The tangent, of angles of any size.',
    range: [-1.5, 1.5],
    caseValues: ANGLES,
  }),
  defineFunction({
    name: 'asin',
    summary: 'The arc sine; NaN outside of [-1, 1].',
    range: [-1, 1],
    caseValues: UNIT,
  }),
  defineFunction({
    name: 'acos',
    summary: 'The arc cosine; NaN outside of [-1, 1].',
    range: [-1, 1],
    caseValues: UNIT,
  }),
  defineFunction({
    name: 'atan',
    summary: 'The arc tangent.',
    range: [-5, 5],
    caseValues: [-1e30, -100, -2.4, -0.42, -0.4, 0, 1e-5, 0.5, 2.5, 1e6, 3e38],
  }),
  defineFunction({
    name: 'sinh',
    summary: 'The hyperbolic sine.',
    range: [-5, 5],
    caseValues: [-88, -20, -1, -0.99, -1e-3, 0, 1e-5, 1.01, 30, 89],
  }),
  defineFunction({
    name: 'cosh',
    summary: 'The hyperbolic cosine.',
    range: [-5, 5],
    caseValues: [-88, -20, -1, 0, 1e-3, 3, 30, 89],
  }),
  defineFunction({
    name: 'asinh',
    summary: 'The area hyperbolic sine.',
    range: [-10, 10],
    caseValues: [-1e38, -1e10, -1e5, -0.5, 0, 1e-5, 0.1, 3, 1e9, 1e20],
  }),
  defineFunction({
    name: 'acosh',
    summary: 'The area hyperbolic cosine; NaN below 1.',
    range: [1, 10],
    caseValues: [1, 1.0001, 1.1, 2, 100, 1e9, 1e10, 1e38],
  }),
  defineFunction({
    name: 'atanh',
    summary: 'The area hyperbolic tangent; NaN outside of [-1, 1].',
    range: [-0.95, 0.95],
    caseValues: [-0.9999, -0.5, -1e-4, 0, 1e-5, 0.3, 0.75, 0.999],
  }),
  defineFunction({
    name: 'log1p',
    summary: 'log(1 + x), also for small x; NaN below -1.',
    range: [-0.9, 10],
    caseValues: [-0.999, -0.5, -1e-6, 0, 1e-10, 1e-4, 0.5, 0.6, 1e5, 1e30],
  }),
];
