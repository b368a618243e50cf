import type { DType } from '../../core/dtype.ts';
import { isBigInt, isDType } from '../../core/dtype.ts';
import { internalError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { stringAttribute } from '../attributes.ts';
import type { OpCase, OpDefinition, ScalarContext } from '../define-op.ts';
import { defineElementwise } from './elementwise.ts';
import { operand } from '../operand-checks.ts';
import { wgslOperandType } from '../wgsl-literal.ts';

const DTYPES: readonly DType[] = ['float32', 'int32', 'uint32', 'bool', 'int64'];

const target = (attributes: Attributes): DType => {
  const to = stringAttribute(attributes, 'to');
  if (!isDType(to)) throw internalError(`cast to ${to}`);
  return to;
};

const elementwiseCast = defineElementwise({
  name: 'cast',
  summary:
    'x as another dtype. Floats to integers round towards zero and saturate at the last float32 ' +
    'inside the range; integers keep their low bits; to bool: whether x is not 0.',
  inputs: [{ name: 'x', dtypes: DTYPES }],
  attributes: { to: { type: 'dtype', oneOf: DTYPES } },
  output: (_, attributes) => target(attributes),
  scalar: {
    wgsl: ([x = ''], context) => {
      const [from = 'float32'] = context.dtypes;
      if (from === 'int64') return fromInt64(x, context.output);
      if (context.output === 'int64') return toInt64(x, from);
      return `${wgslOperandType(context.output, context.width)}(${x})`;
    },
    declarations: ({ dtypes: [from], output }): Readonly<Record<string, string>> => {
      if (from === 'int64' && output === 'float32') return { i64_to_f32: I64_TO_F32 };
      return from === 'float32' && output === 'int64' ? { f32_to_i64: F32_TO_I64 } : {};
    },
    host: ([x = 0], context) => convert(x, context),
  },
  cases: () => [
    ...DTYPES.flatMap((from) =>
      DTYPES.map(
        (to): OpCase => ({
          title: `${from} to ${to}`,
          inputs: [{ dtype: from, shape: [5, 7] }],
          attributes: { to },
        }),
      ),
    ),
    {
      title: 'float32 to int32 saturates',
      inputs: [{ dtype: 'float32', shape: [6], values: [-3e9, 3e9, -1.9, 1.9, 0.5, -0.5] }],
      attributes: { to: 'int32' },
    },
    {
      title: 'float32 to uint32 saturates',
      inputs: [{ dtype: 'float32', shape: [4], values: [-3, 5e9, 3e9, 1.9] }],
      attributes: { to: 'uint32' },
    },
    {
      title: 'int64 of both words to float32',
      inputs: [{ dtype: 'int64', shape: [8], values: WIDE_INTEGERS }],
      attributes: { to: 'float32' },
    },
    {
      title: 'int64 of both words to int32',
      inputs: [{ dtype: 'int64', shape: [8], values: WIDE_INTEGERS }],
      attributes: { to: 'int32' },
    },
    {
      title: 'float32 of any size to int64',
      inputs: [{ dtype: 'float32', shape: [7], values: [-1.9, 0.5, 3e9, -3e9, 1e18, 1e30, -1e30] }],
      attributes: { to: 'int64' },
    },
    {
      title: 'uint32 to int64 keeps the sign',
      inputs: [{ dtype: 'uint32', shape: [4], values: [0, 1, 2 ** 31, 2 ** 32 - 1] }],
      attributes: { to: 'int64' },
    },
    { title: 'empty', inputs: [{ dtype: 'int32', shape: [0] }], attributes: { to: 'float32' } },
  ],
  badCases: () => [
    { title: 'no dtype', inputs: [{ dtype: 'float32', shape: [2] }] },
    {
      title: 'dtype that no kernel has',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { to: 'float64' },
    },
    {
      title: 'no such dtype',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { to: 'float' },
    },
  ],
});

/** Conversion of elements between dtypes. */
export const cast: OpDefinition = {
  ...elementwiseCast,
  reference(inputs, attributes, output) {
    const x = operand(inputs, 0);
    if (isBigInt(x.dtype) || isBigInt(output.dtype)) castBigInts(x, output);
    else elementwiseCast.reference(inputs, attributes, output);
  },
};

const WIDE_INTEGERS = [
  -1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 40 + 2 ** 16 + 1,
  -(2 ** 53) + 1,
  2 ** 53 - 1,
  2 ** 32 + 2 ** 8 + 1,
];

/** An expression over a vec2<u32> with the low word first. */
function fromInt64(x: string, output: DType): string {
  switch (output) {
    case 'float32':
      return `i64_to_f32(${x})`;
    case 'int32':
      return `bitcast<i32>(${x}.x)`;
    case 'uint32':
      return `${x}.x`;
    case 'bool':
      return `any(${x} != vec2<u32>(0u))`;
    default:
      return x;
  }
}

function toInt64(x: string, from: DType): string {
  switch (from) {
    case 'float32':
      return `f32_to_i64(${x})`;
    case 'int32':
      return `vec2<u32>(bitcast<u32>(${x}), bitcast<u32>(${x} >> 31u))`;
    case 'bool':
      return `vec2<u32>(select(0u, 1u, ${x}), 0u)`;
    default:
      return `vec2<u32>(${x}, 0u)`;
  }
}

/** Rounds once: the highest 32 bits, the last of them set if any bit below is. */
const I64_TO_F32 = `fn i64_to_f32(x: vec2<u32>) -> f32 {
  let is_negative = (x.y >> 31u) == 1u;
  let low = select(x.x, ~x.x + 1u, is_negative);
  let high = select(x.y, ~x.y + select(0u, 1u, x.x == 0u), is_negative);
  var size = f32(low);
  if (high != 0u) {
    let shift = countLeadingZeros(high);
    let below = low << shift;
    let above = (high << shift) | ((low >> 1u) >> (31u - shift));
    size = ldexp(f32(above | select(0u, 1u, below != 0u)), i32(32u - shift));
  }
  return select(size, -size, is_negative);
}`;

/** Beyond the range: the last float32 inside it. */
const F32_TO_I64 = `fn f32_to_i64(x: f32) -> vec2<u32> {
  let size = min(trunc(abs(x)), select(0x1.fffffep62f, 0x1p63f, x < 0f));
  let upper = floor(size * 0x1p-32f);
  let low = u32(size - upper * 0x1p32f);
  let high = u32(upper);
  return select(vec2<u32>(low, high), vec2<u32>(~low + 1u, ~high + select(0u, 1u, low == 0u)), x < 0f);
}`;

function castBigInts(x: HostTensor, output: HostTensor): void {
  const source: ArrayLike<number | bigint> = x.data;
  const target = output.elements;
  for (let i = 0; i < source.length; i++) {
    const value = source[i] ?? 0;
    if (target instanceof BigInt64Array) target[i] = toBigInt(value);
    else if (!(target instanceof BigUint64Array)) target[i] = fromBigInt(value, output.dtype);
  }
}

function fromBigInt(value: number | bigint, to: DType): number {
  if (to === 'bool') return Number(value) === 0 ? 0 : 1;
  // Exact up to 2^53; beyond, the nearest float64 is rounded once more.
  if (to === 'float32') return Number(value);
  return Number(BigInt.asUintN(32, BigInt(value)));
}

function toBigInt(value: number | bigint): bigint {
  if (typeof value === 'bigint') return value;
  if (Number.isNaN(value)) return 0n;
  return BigInt(Math.trunc(Math.min(Math.max(value, -(2 ** 63)), 2 ** 63 - 2 ** 39)));
}

function convert(x: number, { dtypes, output }: ScalarContext): number {
  if (output === 'bool') return x === 0 ? 0 : 1;
  if (dtypes[0] !== 'float32' || output === 'float32') return x;
  const [low, high] = output === 'int32' ? [-(2 ** 31), 2 ** 31 - 128] : [0, 2 ** 32 - 256];
  return Number.isNaN(x) ? 0 : Math.trunc(Math.min(Math.max(x, low), high));
}
