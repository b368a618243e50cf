import type { DType, TypedArray } from '../../../core/tensor/dtype.ts';
import { dtypeInfo } from '../../../core/tensor/dtype.ts';

/** Bits of the element types that ONNX packs into bytes, the first element in the lowest bits. */
const PACKED_BITS: Partial<Record<DType, number>> = {
  float4e2m1: 4,
  int4: 4,
  uint4: 4,
  int2: 2,
  uint2: 2,
};

export function isBitPacked(dtype: DType): boolean {
  return PACKED_BITS[dtype] !== undefined;
}

/** Bytes of elements as ONNX stores them. */
export function bitPackedByteLength(dtype: DType, count: number): number {
  const { byteLength } = dtypeInfo(dtype);
  return Math.ceil((count * (PACKED_BITS[dtype] ?? byteLength * 8)) / 8);
}

/** One array element for each element of bit-packed bytes, of which there are enough. */
export function unpackElements(dtype: DType, bytes: Uint8Array, count: number): TypedArray {
  const bits = PACKED_BITS[dtype] ?? 8;
  const { array, category } = dtypeInfo(dtype);
  const elements = new array(count) as Int8Array | Uint8Array;
  const lanes = 8 / bits;
  const unused = 32 - bits;
  for (let i = 0; i < count; i++) {
    const lane = (bytes[Math.floor(i / lanes)] ?? 0) >> ((i % lanes) * bits);
    elements[i] = category === 'int' ? (lane << unused) >> unused : lane & (2 ** bits - 1);
  }
  return elements;
}
