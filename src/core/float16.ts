/** The value of IEEE binary16 bits. */
export function float16ToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
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

const word = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(4));

/** The bits of a number that float32 holds exactly and that is a normal number of binary16. */
function normalBits(value: number): number | undefined {
  if (Math.fround(value) !== value) return undefined;
  word.setFloat32(0, value);
  const bits = word.getUint32(0);
  const size = bits & 0x7fffffff;
  if (size < 0x38800000 || size >= 0x477ff000) return undefined;
  return ((bits >>> 16) & 0x8000) | ((size - 0x38000000 + 0xfff + ((size >> 13) & 1)) >> 13);
}

/** The values of binary16 bits. */
export function decodeFloat16(bits: ArrayLike<number>): Float32Array<ArrayBuffer> {
  return Float32Array.from(bits, float16ToNumber);
}

/** Writes the bits of numbers, each rounded once. */
export function encodeFloat16(values: ArrayLike<number>, target: Uint16Array): void {
  for (let i = 0; i < target.length; i++) {
    const value = values[i] ?? 0;
    target[i] = normalBits(value) ?? numberToFloat16(value);
  }
}
