import { wideDeclarations } from '../../lowering/wide-integers.ts';
import { inLanes, lanewise } from './lanewise.ts';
import { INFINITY, NOT_A_NUMBER } from './transcendental-wgsl.ts';

/** WGSL of powers of 64-bit integers, by repeated squaring. */
export const WIDE_POW: Readonly<Record<string, string>> = {
  ...wideDeclarations('wide_mul', 'u64_shr'),
  pow_wide: `fn pow_wide(a: vec2<u32>, b: vec2<u32>, is_signed: bool) -> vec2<u32> {
  let one = vec2<u32>(1u, 0u);
  if (is_signed && b.y >> 31u == 1u) {
    let is_unit = all(a == one) | all(a == vec2<u32>(~0u));
    return select(vec2<u32>(), select(a, one, (b.x & 1u) == 0u), is_unit);
  }
  var result = one;
  var base = a;
  for (var rest = b; any(rest != vec2<u32>()); rest = u64_shr(rest, 1u)) {
    if ((rest.x & 1u) == 1u) { result = wide_mul(result, base); }
    base = wide_mul(base, base);
  }
  return result;
}`,
};

/**
 * WGSL's pow is exp2(b * log2(a)): undefined for negative bases, NaN where log2(0) is multiplied by
 * zero, and not exact where a power is a whole number. It has no integer pow.
 */
export const POW: Readonly<Record<string, string>> = {
  ...NOT_A_NUMBER,
  ...INFINITY,
  pow_f32: `fn pow_f32(a: f32, b: f32) -> f32 {
  let a_bits = bitcast<u32>(a) & 0x7fffffffu;
  let b_bits = bitcast<u32>(b) & 0x7fffffffu;
  if (b == 0.0 || a == 1.0) { return 1.0; }
  if (a_bits > 0x7f800000u || b_bits > 0x7f800000u) { return nan_f32(); }
  if (b == 2.0) { return a * a; }
  let size = abs(a);
  if (b_bits == 0x7f800000u) {
    return select(select(0.0, inf_f32(), (size > 1.0) == (b > 0.0)), 1.0, size == 1.0);
  }
  let is_whole = floor(b) == b;
  var power: f32;
  if (size == 0.0 || a_bits == 0x7f800000u) {
    power = select(0.0, inf_f32(), (size == 0.0) == (b < 0.0));
  } else {
    if (a < 0.0 && !is_whole) { return nan_f32(); }
    power = pow(size, b);
    if (is_whole && abs(b) <= 128.0) {
      power = 1.0;
      var square = select(size, 1.0 / size, b < 0.0);
      for (var rest = u32(abs(b)); rest > 0u; rest >>= 1u) {
        if ((rest & 1u) == 1u) { power *= square; }
        square *= square;
      }
    }
  }
  let is_odd = is_whole & (abs(b) - 2.0 * floor(abs(b) * 0.5) == 1.0);
  return select(power, -power, is_odd & (bitcast<u32>(a) != a_bits));
}`,
  ...inLanes('pow_f32', { parameters: ['a', 'b'] }),
  ...integerPowers(
    'i32',
    `  if (b < 0) {
    if (a == 1) { return 1; }
    return select(0, select(-1, 1, (b & 1) == 0), a == -1);
  }
`,
  ),
  ...integerPowers('u32', ''),
};

/** WGSL of powers of integers, by repeated squaring. */
function integerPowers(type: string, start: string): Record<string, string> {
  return lanewise(
    'pow',
    `${start}  var result = ${type}(1);
  var base = a;
  for (var rest = b; rest > 0; rest >>= 1u) {
    if ((rest & 1) == 1) { result *= base; }
    base *= base;
  }
  return result;`,
    { parameters: ['a', 'b'], type },
  );
}
