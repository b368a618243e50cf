import { float16ToNumber, numberToFloat16 } from './float16.ts';

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

export function decodeFloat16(bits: ArrayLike<number>): Float32Array<ArrayBuffer> {
  const values = new Float32Array(bits.length);
  for (let i = 0; i < values.length; i++) values[i] = float16ToNumber(bits[i] ?? 0);
  return values;
}

/** Writes the bits of numbers, each rounded once. */
export function encodeFloat16(values: ArrayLike<number>, target: Uint16Array): void {
  for (let i = 0; i < target.length; i++) {
    const value = values[i] ?? 0;
    target[i] = normalBits(value) ?? numberToFloat16(value);
  }
}
