import type { DType } from '../../core/tensor/dtype.ts';

/** Integers that tensors are quantised to. */
export const QUANTIZED: readonly DType[] = [
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint4',
  'int4',
  'uint2',
  'int2',
];

/** The least and the greatest integer of a dtype of up to 16 bits. */
export function integerRange(dtype: DType): readonly [number, number] {
  const bits = Number(/\d+$/.exec(dtype)?.[0] ?? 8);
  return dtype.startsWith('u') ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
}
