import { internalError } from '../../../core/errors.ts';
import type { Declarations } from './intrinsics-wgsl.ts';
import { isWideType, type ScalarType } from '../scalar-type.ts';
import { wgslConstant, wgslType } from './wgsl-type.ts';
import { wideDeclarations } from '../../lowering/wide-integers.ts';

interface Conversion {
  readonly from: ScalarType;
  readonly to: ScalarType;
  readonly width: 1 | 4;
}

/** Functions that {@link convertText} calls. */
export function convertDeclarations({ from, to }: Conversion): Declarations {
  if (isWideType(from) && to === 'f32') return FROM_WIDE;
  return from === 'f32' && isWideType(to) ? TO_WIDE : {};
}

/** A value, the name of an operand or variable, as another type. See `ConvertNode`. */
export function convertText(x: string, conversion: Conversion): string {
  const { from, to, width } = conversion;
  if (from === to) return x;
  if (isWideType(from)) return fromWide(x, conversion);
  if (isWideType(to)) return toWide(x, conversion);
  if (from === 'f32') return fromFloat(x, to, width);
  if (from === 'u32' && to === 'f32') return fromUint32(x, width);
  return `${wgslType(to, width)}(${x})`;
}

/** Half of a large number, its last bit set if one of two is lost: SwiftShader rounds those twice. */
function fromUint32(x: string, width: 1 | 4): string {
  const float = wgslType('f32', width);
  const one = wgslConstant(1, 'u32', width);
  const half = `((${x} >> ${one}) | (${x} & ${one}))`;
  const isLarge = `${x} >= ${wgslConstant(2 ** 31, 'u32', width)}`;
  return `select(${float}(${x}), ${float}(${half}) * 2f, ${isLarge})`;
}

/** Looks at the bits, for compilers may take it that there is no NaN and that denormals are 0. */
function fromFloat(x: string, to: ScalarType, width: 1 | 4): string {
  const words = wgslType('u32', width);
  const constant = (text: string) => (width === 1 ? text : `${words}(${text})`);
  const size = `(bitcast<${words}>(${x}) & ${constant('0x7fffffffu')})`;
  if (to === 'bool') return `(${size} != ${constant('0u')})`;
  const range = to === 'u32' ? [0, 2 ** 32 - 256] : [-(2 ** 31), 2 ** 31 - 128];
  const [low, high] = range.map((limit) => wgslConstant(limit, 'f32', width));
  const type = wgslType(to, width);
  const integer = `${type}(clamp(${x}, ${low}, ${high}))`;
  return `select(${integer}, ${type}(), ${size} > ${constant('0x7f800000u')})`;
}

/** Converts a vec2<u32> with the low word first. */
function fromWide(x: string, { from, to }: Conversion): string {
  switch (to) {
    case 'f32':
      return `${from}_to_f32(${x})`;
    case 'bool':
      return `any(${x} != vec2<u32>(0u))`;
    case 'i32':
      return `bitcast<i32>(${x}.x)`;
    case 'u32':
      return `${x}.x`;
    case 'i64':
    case 'u64':
      return x;
    case 'f64':
      throw internalError('WGSL has no f64');
    default:
      return to satisfies never;
  }
}

function toWide(x: string, { from, to }: Conversion): string {
  if (from === 'f32') return `f32_to_${to}(${x})`;
  if (from === 'bool') return `vec2<u32>(select(0u, 1u, ${x}), 0u)`;
  if (from === 'u32') return `vec2<u32>(${x}, 0u)`;
  return `vec2<u32>(bitcast<u32>(${x}), bitcast<u32>(${x} >> 31u))`;
}

/** Rounds once, to even, by integers: adapters differ in how they round what f32() is given. */
const FROM_WIDE: Declarations = {
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
const TO_WIDE: Declarations = {
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
