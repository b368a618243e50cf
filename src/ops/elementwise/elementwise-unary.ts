import { type DType, isBigInt } from '../../core/dtype.ts';
import { floatAttribute } from '../attributes.ts';
import type { NumberArray, OpDefinition, ScalarContext, Tolerance } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';
import { ERF_DECLARATIONS, erf } from './erf.ts';
import { callLanewise } from './lanewise.ts';
import { FLOATS, NUMERIC, SIGNED, wideName } from './number-dtypes.ts';
import { EXP, LOG, SIGMOID } from './transcendental-wgsl.ts';
import { wgslLiteral } from '../wgsl-literal.ts';
import { wideDeclarations, type WideFunction } from '../wide-integers.ts';

const BASE_DTYPES: ReadonlySet<DType> = new Set<DType>(['float32', 'int32', 'uint32', 'bool']);

export interface UnarySpec extends Pick<ElementwiseSpec, 'name' | 'summary' | 'attributes'> {
  readonly dtypes: readonly DType[];
  readonly tolerance?: Tolerance;
  readonly declarations?: Readonly<Record<string, string>>;
  readonly cost?: number;
  /** Range of the random inputs. */
  readonly range?: readonly [number, number];
  /** For operators that networks spend their time in: `host` for whole arrays. */
  readonly hostBlock?: (x: NumberArray, y: NumberArray, context: ScalarContext) => void;
  readonly cases?: readonly OpCase[];
  readonly badCases?: readonly OpCase[];
  wgsl(x: string, context: ScalarContext): string;
  host(x: number, context: ScalarContext): number;
  /** For int64 and uint64, which are vec2<u32> in WGSL. */
  readonly wide?: WideUnary;
}

interface WideUnary {
  readonly functions: readonly WideFunction[];
  wgsl(x: string, prefix: 'i64' | 'u64'): string;
  host(x: bigint): bigint;
}

/** An elementwise operator of one input. */
export function defineUnary(spec: UnarySpec): OpDefinition {
  const { name, summary, dtypes, range } = spec;
  return defineElementwise({
    name,
    summary,
    inputs: [{ name: 'x', dtypes }],
    attributes: spec.attributes ?? {},
    scalar: {
      wgsl: ([x = ''], context) =>
        spec.wide !== undefined && isBigInt(context.output)
          ? spec.wide.wgsl(x, wideName(context.output))
          : spec.wgsl(x, context),
      host: ([x = 0], context) => spec.host(x, context),
      hostBigint: ([x = 0n]) => spec.wide?.host(x) ?? x,
      hostBlock([x = new Float32Array()], y, context) {
        if (spec.hostBlock !== undefined) spec.hostBlock(x, y, context);
        else for (let i = 0; i < y.length; i++) y[i] = spec.host(x[i] ?? 0, context);
      },
      declarations: ({ output }) =>
        isBigInt(output)
          ? wideDeclarations(...(spec.wide?.functions ?? []))
          : (spec.declarations ?? {}),
      ...(spec.cost === undefined ? {} : { cost: spec.cost }),
    },
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
  wgsl: (x) => `abs(${x})`,
  host: (x) => Math.abs(x),
  wide: {
    functions: ['i64_abs'],
    wgsl: (x, prefix) => (prefix === 'i64' ? `i64_abs(${x})` : x),
    host: (x) => (x < 0n ? -x : x),
  },
  cases: [
    { title: 'int32 limits', inputs: [{ dtype: 'int32', shape: [2], values: [-(2 ** 31), -7] }] },
  ],
});

const neg = defineUnary({
  name: 'neg',
  summary: 'Minus x. That of -2^31 is -2^31.',
  dtypes: SIGNED,
  wgsl: (x) => `(-${x})`,
  host: (x) => -x,
  wide: { functions: ['wide_neg'], wgsl: (x) => `wide_neg(${x})`, host: (x) => -x },
});

const relu = defineUnary({
  name: 'relu',
  summary: 'max(x, 0). NaN stays NaN.',
  dtypes: SIGNED,
  // WGSL's max would make 0 of NaN.
  wgsl: (x, { output, width }) => {
    const zero = wgslLiteral(0, output, width);
    return `select(${x}, ${zero}, ${x} < ${zero})`;
  },
  host: (x) => (x < 0 ? 0 : x),
  wide: {
    functions: [],
    wgsl: (x) => `select(${x}, vec2<u32>(), ${x}.y >> 31u == 1u)`,
    host: (x) => (x < 0n ? 0n : x),
  },
  hostBlock(x, y) {
    for (let i = 0; i < y.length; i++) {
      const value = x[i] ?? 0;
      y[i] = value < 0 ? 0 : value;
    }
  },
});

const leakyRelu = defineUnary({
  name: 'leaky_relu',
  summary: 'x where x >= 0, else alpha * x.',
  dtypes: FLOATS,
  attributes: { alpha: { type: 'float', default: 0.01 } },
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  wgsl: (x, { attributes, output, width }) => {
    const alpha = wgslLiteral(floatAttribute(attributes, 'alpha'), output, width);
    return `select(${x}, ${x} * ${alpha}, ${x} < ${wgslLiteral(0, output, width)})`;
  },
  host: (x, { attributes }) => (x < 0 ? x * floatAttribute(attributes, 'alpha') : x),
  hostBlock(x, y, { attributes }) {
    const alpha = floatAttribute(attributes, 'alpha');
    for (let i = 0; i < y.length; i++) {
      const value = x[i] ?? 0;
      y[i] = value < 0 ? value * alpha : value;
    }
  },
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
  tolerance: { rtol: 1e-5, atol: 1e-6 },
  range: [-10, 10],
  declarations: SIGMOID,
  cost: 24,
  wgsl: (x, { width }) => callLanewise('sigmoid_f32', [x], width),
  host: (x) => 1 / (1 + Math.exp(-x)),
  cases: [
    { title: 'far out', inputs: [{ dtype: 'float32', shape: [4], values: [-200, -90, 90, 200] }] },
  ],
});

const tanh = defineUnary({
  name: 'tanh',
  summary: 'The hyperbolic tangent.',
  dtypes: FLOATS,
  tolerance: { rtol: 1e-5, atol: 1e-5 },
  range: [-5, 5],
  // Implementations divide exponentials, which overflow from 88 on; beyond 10 the result is 1.
  cost: 64,
  wgsl: (x, { output, width }) =>
    `select(tanh(${x}), sign(${x}), abs(${x}) > ${wgslLiteral(10, output, width)})`,
  host: (x) => Math.tanh(x),
  cases: [
    { title: 'far out', inputs: [{ dtype: 'float32', shape: [4], values: [-1e6, -50, 50, 1e30] }] },
  ],
});

const exp = defineUnary({
  name: 'exp',
  summary: 'e to the power x.',
  dtypes: FLOATS,
  tolerance: { rtol: 1e-5, atol: 1e-6 },
  declarations: EXP,
  cost: 16,
  wgsl: (x, { width }) => callLanewise('exp_f32', [x], width),
  host: (x) => Math.exp(x),
  cases: [
    { title: 'wide', inputs: [{ dtype: 'float32', shape: [5], values: [-80, -20, 0, 20, 80] }] },
  ],
});

const log = defineUnary({
  name: 'log',
  summary: 'The natural logarithm; NaN of a negative number.',
  dtypes: FLOATS,
  tolerance: { rtol: 1e-5, atol: 1e-6 },
  range: [1e-3, 100],
  declarations: LOG,
  wgsl: (x, { width }) => callLanewise('log_f32', [x], width),
  host: (x) => Math.log(x),
});

const sqrt = defineUnary({
  name: 'sqrt',
  summary: 'The square root. Of a negative number NaN on the host, undefined on WebGPU.',
  dtypes: FLOATS,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  range: [0, 100],
  wgsl: (x) => `sqrt(${x})`,
  host: (x) => Math.sqrt(x),
});

const erfOp = defineUnary({
  name: 'erf',
  summary: 'The error function; on WebGPU within 3e-7.',
  dtypes: FLOATS,
  tolerance: { rtol: 1e-5, atol: 1e-6 },
  range: [-4, 4],
  declarations: ERF_DECLARATIONS,
  wgsl: (x, { width }) => callLanewise('erf_f32', [x], width),
  host: erf,
  cases: [
    {
      title: 'small and far out',
      inputs: [{ dtype: 'float32', shape: [6], values: [-40, -6, -1e-4, 1e-4, 0.04, 40] }],
    },
  ],
});

const TANH_SCALE = Math.sqrt(2 / Math.PI);

const gelu = defineUnary({
  name: 'gelu',
  summary:
    'x times the probability that a normal variable is below x; approximate tanh: by ' +
    '(1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.',
  dtypes: FLOATS,
  attributes: { approximate: { type: 'string', default: 'none', oneOf: ['none', 'tanh'] } },
  tolerance: { rtol: 1e-4, atol: 1e-5 },
  range: [-5, 5],
  declarations: ERF_DECLARATIONS,
  wgsl(x, context) {
    const [op, argument] =
      context.attributes.approximate === 'tanh'
        ? [tanh, `(${TANH_SCALE} * ${x} * (1.0 + 0.044715 * ${x} * ${x}))`]
        : [erfOp, `(${x} * ${Math.SQRT1_2})`];
    return `(0.5 * ${x} * (1.0 + ${op.scalar?.wgsl([argument], context) ?? ''}))`;
  },
  host: (x, { attributes }) =>
    attributes.approximate === 'tanh'
      ? 0.5 * x * (1 + Math.tanh(TANH_SCALE * (x + 0.044715 * x ** 3)))
      : 0.5 * x * (1 + erf(x * Math.SQRT1_2)),
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
  wgsl: (x) => `floor(${x})`,
  host: (x) => Math.floor(x),
});

const clip = defineUnary({
  name: 'clip',
  summary: 'min(max(x, min), max). NaN stays NaN.',
  dtypes: ['float32', 'float64', 'int32', 'uint32'],
  attributes: {
    min: { type: 'float', default: -3.4028234663852886e38 },
    max: { type: 'float', default: 3.4028234663852886e38 },
  },
  wgsl: (x, { attributes, output, width }) => {
    const low = wgslLiteral(floatAttribute(attributes, 'min'), output, width);
    const high = wgslLiteral(floatAttribute(attributes, 'max'), output, width);
    const raised = `select(${x}, ${low}, ${x} < ${low})`;
    return `select(${raised}, ${high}, ${raised} > ${high})`;
  },
  host: (x, { attributes, output }) => {
    const low = clipBound(floatAttribute(attributes, 'min'), output);
    const high = clipBound(floatAttribute(attributes, 'max'), output);
    return Math.min(Math.max(x, low), high);
  },
  hostBlock(x, y, { attributes, output }) {
    const low = clipBound(floatAttribute(attributes, 'min'), output);
    const high = clipBound(floatAttribute(attributes, 'max'), output);
    for (let i = 0; i < y.length; i++) y[i] = Math.min(Math.max(x[i] ?? 0, low), high);
  },
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

function clipBound(bound: number, dtype: DType): number {
  switch (dtype) {
    case 'int32':
      return Math.trunc(Math.min(Math.max(bound, -(2 ** 31)), 2 ** 31 - 1));
    case 'uint32':
      return Math.trunc(Math.min(Math.max(bound, 0), 2 ** 32 - 1));
    case 'float64':
      return bound;
    default:
      return Math.fround(bound);
  }
}

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
