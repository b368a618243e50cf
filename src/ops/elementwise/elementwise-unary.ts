import type { DType } from '../../core/dtype.ts';
import type { OpDefinition, Tolerance } from '../define-op.ts';
import * as f from '../formula/build.ts';
import type { Expression, Formula } from '../formula/expression.ts';
import { INTRINSICS } from '../formula/intrinsics.ts';
import type { OpCase } from '../op-cases.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';
import { FLOATS, NUMERIC, SIGNED } from './number-dtypes.ts';

const BASE_DTYPES: ReadonlySet<DType> = new Set<DType>(['float32', 'int32', 'uint32', 'bool']);

export interface UnarySpec extends Pick<ElementwiseSpec, 'name' | 'summary' | 'attributes'> {
  readonly dtypes: readonly DType[];
  /** Of the operand X. */
  readonly formula: Formula;
  readonly tolerance?: Tolerance;
  /** Range of the random inputs. */
  readonly range?: readonly [number, number];
  readonly cases?: readonly OpCase[];
  readonly badCases?: readonly OpCase[];
}

/** An elementwise operator of one input. */
export function defineUnary(spec: UnarySpec): OpDefinition {
  const { name, summary, dtypes, range } = spec;
  return defineElementwise({
    name,
    summary,
    inputs: [{ name: 'x', dtypes }],
    attributes: spec.attributes ?? {},
    scalar: { formula: spec.formula },
    ...(spec.tolerance === undefined ? {} : { tolerance: spec.tolerance }),
    cases: () => [...unaryCases(dtypes, range), ...(spec.cases ?? [])],
    badCases: () => [
      { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [2] }] },
      { title: 'no input', inputs: [] },
      {
        title: 'unknown attribute',
        inputs: [{ dtype: 'float32', shape: [2] }],
        attributes: { alhpa: 1 },
      },
      ...(spec.badCases ?? []),
    ],
  });
}

/** Shapes of every kind for operators of one input. */
export function unaryCases(
  dtypes: readonly DType[],
  range: readonly [number, number] | undefined,
): OpCase[] {
  const shapes = [[], [0], [1], [7], [3, 5], [2, 3, 4, 5], [4, 0, 3], [513, 129]];
  return dtypes
    .filter((dtype) => BASE_DTYPES.has(dtype))
    .flatMap((dtype) =>
      shapes.map((shape) => ({
        title: `${dtype} (${shape.join(', ')})`,
        inputs: [
          { dtype, shape, ...(range === undefined || dtype !== 'float32' ? {} : { range }) },
        ],
      })),
    );
}

const abs = defineUnary({
  name: 'abs',
  summary: 'The absolute value. That of -2^31 is -2^31.',
  dtypes: NUMERIC,
  formula: f.abs(f.X),
  cases: [
    { title: 'int32 limits', inputs: [{ dtype: 'int32', shape: [2], values: [-(2 ** 31), -7] }] },
  ],
});

const neg = defineUnary({
  name: 'neg',
  summary: 'Minus x. That of -2^31 is -2^31.',
  dtypes: SIGNED,
  formula: f.neg(f.X),
});

const relu = defineUnary({
  name: 'relu',
  summary: 'max(x, 0). NaN stays NaN.',
  dtypes: SIGNED,
  formula: f.select(f.less(f.X, 0), 0, f.X),
});

const leakyRelu = defineUnary({
  name: 'leaky_relu',
  summary: 'x where x >= 0, else alpha * x.',
  dtypes: FLOATS,
  attributes: { alpha: { type: 'float', default: 0.01 } },
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  formula: f.select(f.less(f.X, 0), f.mul(f.X, f.attribute('alpha')), f.X),
  cases: [
    {
      title: 'alpha 0.3',
      inputs: [{ dtype: 'float32', shape: [3, 17] }],
      attributes: { alpha: 0.3 },
    },
    {
      title: 'alpha above 1',
      inputs: [{ dtype: 'float32', shape: [9] }],
      attributes: { alpha: 1.5 },
    },
  ],
  badCases: [
    {
      title: 'alpha is a string',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { alpha: 'small' },
    },
  ],
});

const sigmoid = defineUnary({
  name: 'sigmoid',
  summary: '1 / (1 + exp(-x)).',
  dtypes: FLOATS,
  tolerance: INTRINSICS.sigmoid.tolerance,
  range: [-10, 10],
  formula: f.intrinsic('sigmoid', f.X),
  cases: [
    { title: 'far out', inputs: [{ dtype: 'float32', shape: [4], values: [-200, -90, 90, 200] }] },
  ],
});

const tanh = defineUnary({
  name: 'tanh',
  summary: 'The hyperbolic tangent.',
  dtypes: FLOATS,
  tolerance: INTRINSICS.tanh.tolerance,
  range: [-5, 5],
  formula: f.intrinsic('tanh', f.X),
  cases: [
    { title: 'far out', inputs: [{ dtype: 'float32', shape: [4], values: [-1e6, -50, 50, 1e30] }] },
  ],
});

const exp = defineUnary({
  name: 'exp',
  summary: 'e to the power x.',
  dtypes: FLOATS,
  tolerance: INTRINSICS.exp.tolerance,
  formula: f.intrinsic('exp', f.X),
  cases: [
    { title: 'wide', inputs: [{ dtype: 'float32', shape: [5], values: [-80, -20, 0, 20, 80] }] },
  ],
});

const log = defineUnary({
  name: 'log',
  summary: 'The natural logarithm; NaN of a negative number.',
  dtypes: FLOATS,
  tolerance: INTRINSICS.log.tolerance,
  range: [1e-3, 100],
  formula: f.intrinsic('log', f.X),
});

const sqrt = defineUnary({
  name: 'sqrt',
  summary: 'The square root. Of a negative number NaN on the host, undefined on WebGPU.',
  dtypes: FLOATS,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  range: [0, 100],
  formula: f.sqrt(f.X),
});

const erfOp = defineUnary({
  name: 'erf',
  summary: 'The error function; on WebGPU within 3e-7.',
  dtypes: FLOATS,
  tolerance: INTRINSICS.erf.tolerance,
  range: [-4, 4],
  formula: f.intrinsic('erf', f.X),
  cases: [
    {
      title: 'small and far out',
      inputs: [{ dtype: 'float32', shape: [6], values: [-40, -6, -1e-4, 1e-4, 0.04, 40] }],
    },
  ],
});

/** x times half of 1 + `odd`, an odd function that goes to 1. */
const gated = (odd: Expression) => f.mul(f.mul(0.5, f.X), f.add(1, odd));

const GELU = gated(f.intrinsic('erf', f.mul(f.X, Math.SQRT1_2)));

const GELU_BY_TANH = gated(
  f.intrinsic(
    'tanh',
    f.mul(f.mul(Math.sqrt(2 / Math.PI), f.X), f.add(1, f.mul(f.mul(0.044715, f.X), f.X))),
  ),
);

const gelu = defineUnary({
  name: 'gelu',
  summary:
    'x times the probability that a normal variable is below x; approximate tanh: by ' +
    '(1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.',
  dtypes: FLOATS,
  attributes: { approximate: { type: 'string', default: 'none', oneOf: ['none', 'tanh'] } },
  tolerance: { rtol: 1e-4, atol: 1e-5 },
  range: [-5, 5],
  formula: ({ attributes }) => (attributes.approximate === 'tanh' ? GELU_BY_TANH : GELU),
  cases: [
    {
      title: 'tanh',
      inputs: [{ dtype: 'float32', shape: [9, 4], range: [-5, 5] }],
      attributes: { approximate: 'tanh' },
    },
    {
      title: 'far out by tanh',
      inputs: [{ dtype: 'float32', shape: [4], values: [-100, -20, 20, 100] }],
      attributes: { approximate: 'tanh' },
    },
  ],
  badCases: [
    {
      title: 'no such approximation',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { approximate: 'sigmoid' },
    },
  ],
});

const floor = defineUnary({
  name: 'floor',
  summary: 'The largest integer that is not greater than x, as a float.',
  dtypes: FLOATS,
  range: [-20, 20],
  formula: f.floor(f.X),
});

/** A limit, rounded to the type of the result. */
const bound = (name: string) => f.convert(f.attribute(name), 'output');

const clip = defineUnary({
  name: 'clip',
  summary: 'min(max(x, min), max). NaN stays NaN.',
  dtypes: ['float32', 'float64', 'int32', 'uint32'],
  attributes: {
    min: { type: 'float', default: -3.4028234663852886e38 },
    max: { type: 'float', default: 3.4028234663852886e38 },
  },
  formula: f.min(f.max(f.X, bound('min')), bound('max')),
  cases: [
    {
      title: 'relu6',
      inputs: [{ dtype: 'float32', shape: [3, 33], range: [-10, 10] }],
      attributes: { min: 0, max: 6 },
    },
    {
      title: 'int32',
      inputs: [{ dtype: 'int32', shape: [65], range: [-100, 100] }],
      attributes: { min: -10.5, max: 20 },
    },
    {
      title: 'min above max',
      inputs: [{ dtype: 'float32', shape: [5] }],
      attributes: { min: 1, max: -1 },
    },
  ],
  badCases: [
    {
      title: 'min is a list',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { min: [0] },
    },
  ],
});

export const UNARY_OPS: readonly OpDefinition[] = [
  abs,
  neg,
  relu,
  leakyRelu,
  sigmoid,
  tanh,
  exp,
  log,
  sqrt,
  erfOp,
  gelu,
  floor,
  clip,
];
