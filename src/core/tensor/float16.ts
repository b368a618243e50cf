/** The value of the last bit of a significand, by the bits of the exponent. */
const UNITS = /* @__PURE__ */ Float64Array.from(
  { length: 31 },
  (_, exponent) => 2 ** (Math.max(exponent, 1) - 25),
);

/** The value of IEEE binary16 bits. */
export function float16ToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  const significand = exponent === 0 ? fraction : 1024 + fraction;
  return sign * significand * (UNITS[exponent] ?? 0);
}

/** IEEE binary16 bits of a number, rounded once, to nearest, ties to even; from 65,520 infinity. */
export function numberToFloat16(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = Object.is(value, -0) || value < 0 ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude)));
  // A double has no fraction from 2^52 on, so that the sum rounds to an integer, ties to even.
  const significand = magnitude / 2 ** (exponent - 10) + 2 ** 52 - 2 ** 52;
  // Subnormal numbers and a significand that rounds up to the next power of two come out right.
  return sign | ((exponent + 14) * 1024 + significand);
}
