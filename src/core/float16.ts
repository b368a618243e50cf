const word = new Float32Array(1);
const wordBits = new Uint32Array(word.buffer);

/** The value of IEEE binary16 bits. */
export function float16ToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** IEEE binary16 bits of a number, rounded to nearest, ties to even; beyond 65,519 infinity. */
export function numberToFloat16(value: number): number {
  word[0] = value;
  const bits = wordBits[0] ?? 0;
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  const absolute = Math.abs(value);
  if (absolute >= 65520) return sign | 0x7c00;
  if (absolute < 2 ** -14) return sign | roundToEven(absolute * 2 ** 24);
  const exponent = Math.floor(Math.log2(absolute));
  // log2 rounds up just below a power of two.
  const power = 2 ** exponent > absolute ? exponent - 1 : exponent;
  // A fraction that rounds up to 1024 carries into the exponent, as it should.
  return sign | (((power + 15) << 10) + roundToEven((absolute / 2 ** power - 1) * 1024));
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}
