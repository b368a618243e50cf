import type { ScalarContext } from '../define-op.ts';

/** As IEEE pow, except that 1 to any power is 1. */
export function floatPower(a: number, b: number): number {
  return a === 1 ? 1 : a ** b;
}

/** a^b in int32, wrapping; a negative exponent gives what rounding 1 / a^-b towards zero gives. */
export function integerPower(a: number, b: number): number {
  if (b < 0) return a === 1 ? 1 : a === -1 ? (b % 2 === 0 ? 1 : -1) : 0;
  let result = 1;
  let base = a;
  for (let rest = b; rest > 0; rest >>= 1) {
    if ((rest & 1) === 1) result = Math.imul(result, base);
    base = Math.imul(base, base);
  }
  return result;
}

/** Calls the function of {@link POW_DECLARATIONS} for the operands' type. */
export function powExpression(a: string, b: string, { output, width }: ScalarContext): string {
  const type = output === 'float32' ? 'f32' : 'i32';
  return `pow_${type}${width === 1 ? '' : 'x4'}(${a}, ${b})`;
}

/**
 * WGSL's pow is exp2(b * log2(a)): undefined for negative bases, and NaN where log2(0) is
 * multiplied by zero. It has no integer pow.
 */
export const POW_DECLARATIONS: Readonly<Record<string, string>> = {
  pow_f32: `fn pow_f32(a: f32, b: f32) -> f32 {
  if (b == 0.0 || a == 1.0) { return 1.0; }
  if (b == 2.0) { return a * a; }
  if (a >= 0.0) { return select(pow(a, b), 0.0, a == 0.0 && b > 0.0); }
  if (floor(b) != b) { return pow(a, b); }
  let magnitude = pow(-a, b);
  return select(magnitude, -magnitude, abs(b) - 2.0 * floor(abs(b) * 0.5) == 1.0);
}`,
  pow_f32x4: `fn pow_f32x4(a: vec4<f32>, b: vec4<f32>) -> vec4<f32> {
  return vec4<f32>(pow_f32(a.x, b.x), pow_f32(a.y, b.y), pow_f32(a.z, b.z), pow_f32(a.w, b.w));
}`,
  pow_i32: `fn pow_i32(a: i32, b: i32) -> i32 {
  if (b < 0) {
    if (a == 1) { return 1; }
    return select(0, select(-1, 1, (b & 1) == 0), a == -1);
  }
  var result = 1;
  var base = a;
  for (var rest = b; rest > 0; rest >>= 1u) {
    if ((rest & 1) == 1) { result *= base; }
    base *= base;
  }
  return result;
}`,
  pow_i32x4: `fn pow_i32x4(a: vec4<i32>, b: vec4<i32>) -> vec4<i32> {
  return vec4<i32>(pow_i32(a.x, b.x), pow_i32(a.y, b.y), pow_i32(a.z, b.z), pow_i32(a.w, b.w));
}`,
};
