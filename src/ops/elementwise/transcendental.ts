import type { OpDefinition } from '../define-op.ts';
import { defineUnary } from './elementwise-unary.ts';
import { callLanewise } from './lanewise.ts';
import { FLOATS } from './number-dtypes.ts';
import {
  ACOS,
  ACOSH,
  ASIN,
  ASINH,
  ATAN,
  ATANH,
  COS,
  COSH,
  LOG1P,
  SIN,
  SINH,
  TAN,
} from './transcendental-wgsl.ts';

interface FunctionSpec {
  readonly name: string;
  readonly summary: string;
  readonly declarations: Readonly<Record<string, string>>;
  readonly host: (x: number) => number;
  readonly range?: readonly [number, number];
  /** Arguments far from the range, or where formulas change. */
  readonly caseValues: readonly number[];
}

function defineFunction({ caseValues: values, range, host, ...spec }: FunctionSpec): OpDefinition {
  return defineUnary({
    ...spec,
    dtypes: FLOATS,
    tolerance: { rtol: 4e-6, atol: 1e-6 },
    ...(range === undefined ? {} : { range }),
    wgsl: (x, { width }) => callLanewise(`${spec.name}_f32`, [x], width),
    host: (x) => host(x),
    cases: [{ title: 'corners', inputs: [{ dtype: 'float32', shape: [values.length], values }] }],
  });
}

const ANGLES = [0, -0.7, 0.785398, 0.7854, 1.6, -3.2, 100.5, -8192.25, 1e6, -1e10, 1e20, 3.4e38];
const UNIT = [-1, -0.99, -0.5, -0.49, 0, 1e-4, 0.5, 0.51, 0.999, 1];

export const TRANSCENDENTAL_OPS: readonly OpDefinition[] = [
  defineFunction({
    name: 'sin',
    summary: 'The sine, of angles of any size.',
    declarations: SIN,
    host: Math.sin,
    range: [-20, 20],
    caseValues: ANGLES,
  }),
  defineFunction({
    name: 'cos',
    summary: 'The cosine, of angles of any size.',
    declarations: COS,
    host: Math.cos,
    range: [-20, 20],
    caseValues: ANGLES,
  }),
  defineFunction({
    name: 'tan',
    summary: 'The tangent, of angles of any size.',
    declarations: TAN,
    host: Math.tan,
    range: [-1.5, 1.5],
    caseValues: ANGLES,
  }),
  defineFunction({
    name: 'asin',
    summary: 'The arc sine; NaN outside of [-1, 1].',
    declarations: ASIN,
    host: Math.asin,
    range: [-1, 1],
    caseValues: UNIT,
  }),
  defineFunction({
    name: 'acos',
    summary: 'The arc cosine; NaN outside of [-1, 1].',
    declarations: ACOS,
    host: Math.acos,
    range: [-1, 1],
    caseValues: UNIT,
  }),
  defineFunction({
    name: 'atan',
    summary: 'The arc tangent.',
    declarations: ATAN,
    host: Math.atan,
    range: [-5, 5],
    caseValues: [-1e30, -100, -2.4, -0.42, -0.4, 0, 1e-5, 0.5, 2.5, 1e6, 3e38],
  }),
  defineFunction({
    name: 'sinh',
    summary: 'The hyperbolic sine.',
    declarations: SINH,
    host: Math.sinh,
    range: [-5, 5],
    caseValues: [-88, -20, -1, -0.99, -1e-3, 0, 1e-5, 1.01, 30, 89],
  }),
  defineFunction({
    name: 'cosh',
    summary: 'The hyperbolic cosine.',
    declarations: COSH,
    host: Math.cosh,
    range: [-5, 5],
    caseValues: [-88, -20, -1, 0, 1e-3, 3, 30, 89],
  }),
  defineFunction({
    name: 'asinh',
    summary: 'The area hyperbolic sine.',
    declarations: ASINH,
    host: Math.asinh,
    range: [-10, 10],
    caseValues: [-1e38, -1e10, -1e5, -0.5, 0, 1e-5, 0.1, 3, 1e9, 1e20],
  }),
  defineFunction({
    name: 'acosh',
    summary: 'The area hyperbolic cosine; NaN below 1.',
    declarations: ACOSH,
    host: Math.acosh,
    range: [1, 10],
    caseValues: [1, 1.0001, 1.1, 2, 100, 1e9, 1e10, 1e38],
  }),
  defineFunction({
    name: 'atanh',
    summary: 'The area hyperbolic tangent; NaN outside of [-1, 1].',
    declarations: ATANH,
    host: Math.atanh,
    range: [-0.95, 0.95],
    caseValues: [-0.9999, -0.5, -1e-4, 0, 1e-5, 0.3, 0.75, 0.999],
  }),
  defineFunction({
    name: 'log1p',
    summary: 'log(1 + x), also for small x; NaN below -1.',
    declarations: LOG1P,
    host: Math.log1p,
    range: [-0.9, 10],
    caseValues: [-0.999, -0.5, -1e-6, 0, 1e-10, 1e-4, 0.5, 0.6, 1e5, 1e30],
  }),
];
