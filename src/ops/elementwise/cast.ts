import { ALL_DTYPES, type DType, isBigInt, isDType } from '../../core/dtype.ts';
import { internalError } from '../../core/errors.ts';
import type { Attributes } from '../../core/primitive-function.ts';
import { boolAttribute, stringAttribute } from '../attributes.ts';
import type { OpDefinition, ScalarContext } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { convertElements, roundToInteger } from './convert-elements.ts';
import { defineElementwise } from './elementwise.ts';
import { operand } from '../operand-checks.ts';
import { KERNEL_DTYPES } from '../placement.ts';
import { wideDeclarations } from '../wide-integers.ts';
import { wgslLiteral, wgslOperandType } from '../wgsl-literal.ts';

const target = (attributes: Attributes): DType => {
  const to = stringAttribute(attributes, 'to');
  if (!isDType(to)) throw internalError(`cast to ${to}`);
  return to;
};

const elementwiseCast = defineElementwise({
  name: 'cast',
  summary:
    'x as another dtype. Floats to integers round towards zero and saturate at the last float ' +
    'inside the range, NaN gives 0; to less than 32 bits they go by way of int32. Integers keep ' +
    'their low bits; to bool: whether x is not 0. ' +
    'float8 saturates or overflows as `saturate` says, float8e8m0 rounds by `round_mode`.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: {
    to: { type: 'dtype' },
    saturate: { type: 'bool', default: true },
    round_mode: { type: 'string', default: 'up', oneOf: ['up', 'down', 'nearest'] },
  },
  output: (_, attributes) => target(attributes),
  scalar: {
    wgsl: ([x = ''], context) => {
      const [from = 'float32'] = context.dtypes;
      if (isBigInt(from)) return fromWide(x, from, context.output);
      if (isBigInt(context.output)) return toWide(x, from, context.output);
      return from === 'float32' ? fromFloat(x, context) : plain(x, context);
    },
    declarations: ({ dtypes: [from = 'float32'], output }): Readonly<Record<string, string>> => {
      if (isBigInt(from) && output === 'float32') return FROM_WIDE;
      return from === 'float32' && isBigInt(output) ? TO_WIDE : {};
    },
    host: ([x = 0], context) => convert(x, context),
  },
  cases: () => [
    ...[...KERNEL_DTYPES].flatMap((from) =>
      [...KERNEL_DTYPES].map(
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
      title: 'large uint32 to float32 rounds once',
      inputs: [
        {
          dtype: 'uint32',
          shape: [8],
          values: [
            0x80000080, 0x80000081, 0x80000180, 0x8000017f, 0xffffff80, 0xffffff7f, 0xffffffff, 3,
          ],
        },
      ],
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
    {
      title: 'float32 that is no number, or beyond the range, to uint8',
      inputs: [
        { dtype: 'float32', shape: [6], values: [NaN, Infinity, -Infinity, 300, -1, 255.9] },
      ],
      attributes: { to: 'uint8' },
    },
    {
      title: 'NaN to int32',
      inputs: [{ dtype: 'float32', shape: [3], values: [NaN, Infinity, -Infinity] }],
      attributes: { to: 'int32' },
    },
    {
      title: 'NaN to uint64',
      inputs: [{ dtype: 'float32', shape: [4], values: [NaN, Infinity, -Infinity, 2 ** 60] }],
      attributes: { to: 'uint64' },
    },
    {
      title: 'what is almost 0 to bool',
      inputs: [{ dtype: 'float32', shape: [5], values: [NaN, 1e-45, -0, 0, -Infinity] }],
      attributes: { to: 'bool' },
    },
    {
      title: 'float32 to float16 rounds once, to even, to infinity',
      inputs: [
        {
          dtype: 'float32',
          shape: [9],
          values: [
            65519,
            65520,
            -7e4,
            1 + 2 ** -11,
            1 + 3 * 2 ** -11,
            2 ** -25,
            3 * 2 ** -25,
            -0,
            0.1,
          ],
        },
      ],
      attributes: { to: 'float16' },
    },
    {
      title: 'int32 to int8 keeps the low bits',
      inputs: [{ dtype: 'int32', shape: [5], values: [128, -129, 255, 65_663, -1] }],
      attributes: { to: 'int8' },
    },
    {
      title: 'float8 overflows',
      inputs: [{ dtype: 'float32', shape: [4], values: [500, -500, 464, 0.1] }],
      attributes: { to: 'float8e4m3fn', saturate: false },
    },
    {
      title: 'float8e8m0 rounds to the nearest power of two',
      inputs: [{ dtype: 'float32', shape: [4], values: [1.4, 1.5, 3, 0.75] }],
      attributes: { to: 'float8e8m0', round_mode: 'nearest' },
    },
    { title: 'empty', inputs: [{ dtype: 'int32', shape: [0] }], attributes: { to: 'float32' } },
  ],
  badCases: () => [
    { title: 'no dtype', inputs: [{ dtype: 'float32', shape: [2] }] },
    {
      title: 'round mode',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { to: 'float8e8m0', round_mode: 'even' },
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
  takesBits: true,
  reference(inputs, attributes, output) {
    convertElements(operand(inputs, 0), output, {
      saturate: boolAttribute(attributes, 'saturate'),
      roundMode: stringAttribute(attributes, 'round_mode'),
    });
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

/** From and to integers of up to 32 bits, float32 and bool. */
function plain(x: string, { dtypes: [from], output, width }: ScalarContext): string {
  if (from === 'uint32' && output === 'float32') return fromUint32(x, width);
  return `${wgslOperandType(output, width)}(${x})`;
}

/** Half of a large number, its last bit set if one of two is lost: SwiftShader rounds those twice. */
function fromUint32(x: string, width: 1 | 4): string {
  const float = wgslOperandType('float32', width);
  const half = `((${x} >> ${wgslLiteral(1, 'uint32', width)}) | (${x} & ${wgslLiteral(1, 'uint32', width)}))`;
  const isLarge = `${x} >= ${wgslLiteral(2 ** 31, 'uint32', width)}`;
  return `select(${float}(${x}), ${float}(${half}) * 2f, ${isLarge})`;
}

/** Looks at the bits, for compilers may take it that there is no NaN and that denormals are 0. */
function fromFloat(x: string, { output, width }: ScalarContext): string {
  const u = (value: string) => (width === 1 ? value : `vec4<u32>(${value})`);
  const size = `(bitcast<${width === 1 ? 'u32' : 'vec4<u32>'}>(${x}) & ${u('0x7fffffffu')})`;
  if (output === 'bool') return `(${size} != ${u('0u')})`;
  if (output === 'float32') return x;
  const range = output === 'uint32' ? [0, 2 ** 32 - 256] : [-(2 ** 31), 2 ** 31 - 128];
  const [low, high] = range.map((limit) => wgslLiteral(limit, 'float32', width));
  const whole = wgslOperandType(output === 'uint32' ? 'uint32' : 'int32', width);
  const type = wgslOperandType(output, width);
  const integer = `${whole}(clamp(${x}, ${low}, ${high}))`;
  return `select(${type}(${integer}), ${type}(), ${size} > ${u('0x7f800000u')})`;
}

/** An expression over a vec2<u32> with the low word first. */
function fromWide(x: string, from: DType, output: DType): string {
  if (isBigInt(output)) return x;
  if (output === 'float32') return `${from === 'int64' ? 'i64' : 'u64'}_to_f32(${x})`;
  if (output === 'bool') return `any(${x} != vec2<u32>(0u))`;
  return output.startsWith('int') ? `bitcast<i32>(${x}.x)` : `${x}.x`;
}

function toWide(x: string, from: DType, output: DType): string {
  if (from === 'float32') return `f32_to_${output === 'int64' ? 'i64' : 'u64'}(${x})`;
  if (from === 'bool') return `vec2<u32>(select(0u, 1u, ${x}), 0u)`;
  if (from.startsWith('uint')) return `vec2<u32>(${x}, 0u)`;
  return `vec2<u32>(bitcast<u32>(${x}), bitcast<u32>(${x} >> 31u))`;
}

/** Rounds once, to even, by integers: adapters differ in how they round what f32() is given. */
const FROM_WIDE = {
  ...wideDeclarations('i64_abs'),
  u64_to_f32: `fn u64_to_f32(x: vec2<u32>) -> f32 {
  let is_short = x.y == 0u;
  let high = select(x.y, x.x, is_short);
  let low = select(x.x, 0u, is_short);
  let shift = countLeadingZeros(high);
  let above = (high << shift) | ((low >> 1u) >> (31u - shift));
  let rest = (above & 255u) * 2u + select(0u, 1u, (low << shift) != 0u);
  let even = (above >> 8u) & 0x7fffffu;
  let exponent = select(190u, 158u, is_short) - shift;
  let bits = (exponent << 23u) + even + select(0u, 1u, rest + (even & 1u) > 256u);
  return select(bitcast<f32>(bits), 0f, high == 0u);
}`,
  i64_to_f32: `fn i64_to_f32(x: vec2<u32>) -> f32 {
  let size = u64_to_f32(i64_abs(x));
  return select(size, -size, x.y >> 31u == 1u);
}`,
};

/** Beyond the range: the last float32 inside it. NaN, which has its own bits, gives 0. */
const TO_WIDE = {
  ...wideDeclarations('wide_neg'),
  f32_to_size: `fn f32_to_size(x: f32) -> vec2<u32> {
  let size = min(trunc(x), 0x1.fffffep63f);
  let upper = floor(size * 0x1p-32f);
  return vec2<u32>(u32(size - upper * 0x1p32f), u32(upper));
}`,
  f32_is_nan: `fn f32_is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}`,
  f32_to_u64: `fn f32_to_u64(x: f32) -> vec2<u32> {
  return select(f32_to_size(max(x, 0f)), vec2<u32>(), f32_is_nan(x));
}`,
  f32_to_i64: `fn f32_to_i64(x: f32) -> vec2<u32> {
  let size = f32_to_size(min(abs(x), select(0x1.fffffep62f, 0x1p63f, x < 0f)));
  return select(select(size, wide_neg(size), x < 0f), vec2<u32>(), f32_is_nan(x));
}`,
};

/** In chains on the host, whose elements are numbers. */
function convert(x: number, { dtypes: [from = 'float32'], output }: ScalarContext): number {
  if (output === 'bool') return x === 0 ? 0 : 1;
  const isRounded = from.startsWith('float') && !output.startsWith('float');
  return isRounded ? roundToInteger(x, output, from) : x;
}
