import { type DType, isBigInt } from '../../core/dtype.ts';
import type {
  NumberArray,
  OpDefinition,
  ScalarContext,
  ScalarFunction,
  Tolerance,
} from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { defineElementwise, type ElementwiseSpec } from './elementwise.ts';
import { callLanewise } from './lanewise.ts';
import { isFloat, NUMERIC, wideName } from './number-dtypes.ts';
import {
  floatPower,
  integerPower,
  POW_DECLARATIONS,
  powExpression,
  WIDE_POW,
  widePower,
} from './pow.ts';
import { wideDeclarations, type WideFunction } from '../wide-integers.ts';
import { wgslTypeName } from '../wgsl-literal.ts';

type HostBlock = NonNullable<ScalarFunction['hostBlock']>;

export interface BinarySpec {
  readonly name: string;
  readonly summary: string;
  readonly dtypes: readonly DType[];
  readonly tolerance?: Tolerance;
  readonly declarations?: Readonly<Record<string, string>>;
  /** Ranges of the random inputs. */
  readonly ranges?: readonly [readonly [number, number], readonly [number, number]];
  readonly cases?: readonly OpCase[];
  /** In place of the call with bool operands. */
  readonly badCases?: readonly OpCase[];
  readonly attributes?: ElementwiseSpec['attributes'];
  wgsl(a: string, b: string, context: ScalarContext): string;
  readonly host: (a: number, b: number, context: ScalarContext) => number;
  readonly hostBlock?: HostBlock;
  /** For int64 and uint64. */
  readonly wide?: WideBinary;
}

/** A binary operator on 64-bit integers, which are vec2<u32> in WGSL. */
export interface WideBinary {
  /** An expression over operands, for the prefix `i64` or `u64` of functions that want to know. */
  wgsl(a: string, b: string, prefix: 'i64' | 'u64', context: ScalarContext): string;
  readonly functions: readonly WideFunction[];
  readonly declarations?: Readonly<Record<string, string>>;
  host(a: bigint, b: bigint, context: ScalarContext): bigint;
}

/** What `wide` adds to a scalar function. */
export function wideScalar(wide: WideBinary | undefined, narrow: ScalarFunction): ScalarFunction {
  if (wide === undefined) return narrow;
  const isWide = ({ dtypes }: ScalarContext) => dtypes.some(isBigInt);
  return {
    ...narrow,
    wgsl(operands, context) {
      const [a = '', b = ''] = operands;
      if (!isWide(context)) return narrow.wgsl(operands, context);
      return wide.wgsl(a, b, wideName(context.dtypes[0]), context);
    },
    declarations: (context) =>
      isWide(context)
        ? { ...wideDeclarations(...wide.functions), ...wide.declarations }
        : (narrow.declarations?.(context) ?? {}),
    hostBigint: ([a = 0n, b = 0n], context) => wide.host(a, b, context),
  };
}

/** An elementwise operator of two inputs of one dtype. */
export function defineBinary(spec: BinarySpec): OpDefinition {
  const { name, summary, dtypes } = spec;
  return defineElementwise({
    name,
    summary,
    inputs: [
      { name: 'a', dtypes },
      { name: 'b', dtypes },
    ],
    scalar: wideScalar(spec.wide, {
      wgsl: ([a = '', b = ''], context) => spec.wgsl(a, b, context),
      host: ([a = 0, b = 0], context) => spec.host(a, b, context),
      hostBlock: spec.hostBlock ?? blockOf(spec),
      declarations: () => spec.declarations ?? {},
    }),
    ...(spec.attributes === undefined ? {} : { attributes: spec.attributes }),
    ...(spec.tolerance === undefined ? {} : { tolerance: spec.tolerance }),
    cases: () => [...broadcastCases(dtypes, spec.ranges), ...(spec.cases ?? [])],
    badCases: () => [
      {
        title: 'shapes do not broadcast',
        inputs: [
          { dtype: 'float32', shape: [2, 3] },
          { dtype: 'float32', shape: [4, 3] },
        ],
      },
      {
        title: 'dtypes differ',
        inputs: [
          { dtype: 'float32', shape: [2] },
          { dtype: 'int32', shape: [2] },
        ],
      },
      ...(spec.badCases ?? [
        {
          title: 'bad dtype',
          inputs: [
            { dtype: 'bool', shape: [2] },
            { dtype: 'bool', shape: [2] },
          ],
        } as const,
      ]),
      { title: 'one input', inputs: [{ dtype: 'float32', shape: [2] }] },
    ],
  });
}

function blockOf({ host }: BinarySpec): HostBlock {
  return (operands, output, context) => {
    const [a, b] = pair(operands);
    for (let i = 0; i < output.length; i++) output[i] = host(a[i] ?? 0, b[i] ?? 0, context);
  };
}

function pair([a, b]: readonly NumberArray[]): [NumberArray, NumberArray] {
  return [a ?? new Float32Array(), b ?? new Float32Array()];
}

const BASE_DTYPES: ReadonlySet<DType> = new Set<DType>(['float32', 'int32', 'uint32', 'bool']);

/** Pairs of shapes that broadcast in every way, for operators of two inputs. */
export function broadcastCases(dtypes: readonly DType[], ranges?: BinarySpec['ranges']): OpCase[] {
  const pairs = [
    [[], []],
    [[5], []],
    [[], [2, 3]],
    [[7], [7]],
    [
      [2, 3, 5],
      [2, 3, 5],
    ],
    [
      [4, 1],
      [1, 6],
    ],
    [[2, 3, 4], [4]],
    [
      [2, 8, 3, 3],
      [8, 1, 1],
    ],
    [
      [1, 0],
      [3, 1],
    ],
    [
      [64, 1, 33],
      [1, 31, 1],
    ],
  ];
  return dtypes
    .filter((dtype) => BASE_DTYPES.has(dtype))
    .flatMap((dtype) =>
      pairs.map(([a = [], b = []]) => ({
        title: `${dtype} (${a.join(', ')}) and (${b.join(', ')})`,
        inputs: [
          { dtype, shape: a, ...(ranges === undefined ? {} : { range: ranges[0] }) },
          { dtype, shape: b, ...(ranges === undefined ? {} : { range: ranges[1] }) },
        ],
      })),
    );
}

const callOf = (name: WideFunction) => (a: string, b: string) => `${name}(${a}, ${b})`;

export const add = defineBinary({
  name: 'add',
  summary: 'a + b. Integers wrap.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  wgsl: (a, b) => `(${a} + ${b})`,
  host: (a, b) => a + b,
  wide: { wgsl: callOf('wide_add'), functions: ['wide_add'], host: (a, b) => a + b },
  hostBlock(operands, output) {
    const [a, b] = pair(operands);
    for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) + (b[i] ?? 0);
  },
  cases: [
    {
      // One dimension of workgroups holds at most 65,535, here of 64 elements each.
      title: 'more elements than one dimension of workgroups',
      inputs: [
        { dtype: 'float32', shape: [4_194_305] },
        { dtype: 'float32', shape: [] },
      ],
    },
    {
      title: 'int32 wraps',
      inputs: [
        { dtype: 'int32', shape: [2], values: [2 ** 31 - 1, -(2 ** 31)] },
        { dtype: 'int32', shape: [2], values: [1, -1] },
      ],
    },
  ],
});

const sub = defineBinary({
  name: 'sub',
  summary: 'a - b. Integers wrap.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  wgsl: (a, b) => `(${a} - ${b})`,
  host: (a, b) => a - b,
  wide: { wgsl: callOf('wide_sub'), functions: ['wide_sub'], host: (a, b) => a - b },
});

export const mul = defineBinary({
  name: 'mul',
  summary: 'a * b. Integers wrap.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  wgsl: (a, b) => `(${a} * ${b})`,
  host: (a, b, { output }) => (isFloat(output) ? a * b : Math.imul(a, b)),
  wide: { wgsl: callOf('wide_mul'), functions: ['wide_mul'], host: (a, b) => a * b },
  hostBlock(operands, output, context) {
    const [a, b] = pair(operands);
    if (isFloat(context.output)) {
      for (let i = 0; i < output.length; i++) output[i] = (a[i] ?? 0) * (b[i] ?? 0);
    } else {
      for (let i = 0; i < output.length; i++) output[i] = Math.imul(a[i] ?? 0, b[i] ?? 0);
    }
  },
  cases: [
    {
      title: 'int32 wraps',
      inputs: [
        { dtype: 'int32', shape: [2], values: [65_537, -123_456_789] },
        { dtype: 'int32', shape: [2], values: [65_537, 987_654_321] },
      ],
    },
  ],
});

const div = defineBinary({
  name: 'div',
  summary:
    'a / b. Integers round towards zero; a / 0 is a, and -2^31 / -1 is -2^31, as WGSL has it.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-6, atol: 1e-7 },
  wgsl: (a, b) => `(${a} / ${b})`,
  host: (a, b, { output }) => (isFloat(output) ? a / b : b === 0 ? a : Math.trunc(a / b)),
  wide: {
    wgsl: (a, b, prefix) => `${prefix}_div(${a}, ${b})`,
    functions: ['i64_div', 'u64_div'],
    host: (a, b) => (b === 0n ? a : a / b),
  },
  cases: [
    {
      title: 'int32 by zero and over the edge',
      inputs: [
        { dtype: 'int32', shape: [5], values: [7, -7, -(2 ** 31), 5, 0] },
        { dtype: 'int32', shape: [5], values: [-2, 2, -1, 0, 0] },
      ],
    },
  ],
});

/** `max` and `min` may give the other operand where one is NaN. */
function extremum(name: 'max' | 'min'): Readonly<Record<string, string>> {
  const sign = name === 'max' ? '>' : '<';
  const text = (type: string, words: string, suffix: string) =>
    `fn ${name}_f32${suffix}(a: ${type}, b: ${type}) -> ${type} {\n` +
    `  let is_nan = (bitcast<${words}>(b) & ${words}(0x7fffffffu)) > ${words}(0x7f800000u);\n` +
    `  return select(a, b, (b ${sign} a) | is_nan);\n}`;
  return {
    [`${name}_f32`]: text('f32', 'u32', ''),
    [`${name}_f32x4`]: text('vec4<f32>', 'vec4<u32>', 'x4'),
  };
}

function extremumOf(
  name: 'max' | 'min',
  operands: readonly string[],
  { output, width }: ScalarContext,
): string {
  const isFloat = wgslTypeName(output) === 'f32';
  return callLanewise(isFloat ? `${name}_f32` : name, operands, isFloat ? width : 1);
}

export const maximum = defineBinary({
  name: 'maximum',
  summary: 'The greater of a and b; NaN where either is.',
  dtypes: NUMERIC,
  declarations: extremum('max'),
  wgsl: (a, b, context) => extremumOf('max', [a, b], context),
  host: (a, b) => Math.max(a, b),
  wide: {
    wgsl: (a, b, prefix) => `select(${a}, ${b}, ${prefix}_lt(${a}, ${b}))`,
    functions: ['i64_lt', 'u64_lt'],
    host: (a, b) => (a < b ? b : a),
  },
});

export const minimum = defineBinary({
  name: 'minimum',
  summary: 'The lesser of a and b; NaN where either is.',
  dtypes: NUMERIC,
  declarations: extremum('min'),
  wgsl: (a, b, context) => extremumOf('min', [a, b], context),
  host: (a, b) => Math.min(a, b),
  wide: {
    wgsl: (a, b, prefix) => `select(${a}, ${b}, ${prefix}_lt(${b}, ${a}))`,
    functions: ['i64_lt', 'u64_lt'],
    host: (a, b) => (b < a ? b : a),
  },
});

const pow = defineBinary({
  name: 'pow',
  summary:
    'a to the power b. A negative float base wants an integral exponent (else NaN); an integer ' +
    'to a negative power is 0 unless the base is 1 or -1.',
  dtypes: NUMERIC,
  tolerance: { rtol: 1e-4, atol: 1e-5 },
  ranges: [
    [0, 5],
    [-3, 4],
  ],
  declarations: POW_DECLARATIONS,
  wgsl: powExpression,
  host: (a, b, { output }) => (isFloat(output) ? floatPower(a, b) : integerPower(a, b)),
  wide: {
    wgsl: (a, b, prefix) => `pow_wide(${a}, ${b}, ${prefix === 'i64'})`,
    functions: ['wide_mul', 'u64_shr'],
    declarations: WIDE_POW,
    host: widePower,
  },
  cases: [
    {
      title: 'signs, zeros and ones',
      inputs: [
        { dtype: 'float32', shape: [10], values: [-2, -2, 0, 0, 1, -3, 4, 2, -1, -1.5] },
        { dtype: 'float32', shape: [10], values: [3, 2, 0, 2.5, -7, -1, 0.5, -2, 0, 4] },
      ],
    },
    {
      title: 'squares',
      inputs: [
        { dtype: 'float32', shape: [3, 65] },
        { dtype: 'float32', shape: [], values: [2] },
      ],
    },
    {
      title: 'int32 signs',
      inputs: [
        { dtype: 'int32', shape: [8], values: [-2, -1, -1, 0, 0, 3, 7, 2] },
        { dtype: 'int32', shape: [8], values: [3, -3, -2, 0, -1, -1, 11, 40] },
      ],
    },
  ],
});

export const BINARY_OPS: readonly OpDefinition[] = [add, sub, mul, div, pow, maximum, minimum];
