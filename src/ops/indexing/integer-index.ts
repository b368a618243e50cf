import type { DType } from '../../core/dtype.ts';
import type { HostTensor } from '../../core/host-tensor.ts';

/** What ONNX allows as indices. */
export const INDEX_DTYPES: readonly DType[] = ['int32', 'int64'];

/**
 * A u32 expression for an index that may count from the end. Where the index lies outside, it is no
 * less than the size: u32 arithmetic wraps, and what is still negative becomes larger than any size.
 */
export function placeExpression(index: string, size: string): string {
  return `(bitcast<u32>(${index}) + select(0u, ${size}, ${index} < 0))`;
}

/** The elements of a tensor of integers as numbers. */
export function hostIntegers({ data }: HostTensor): Float64Array {
  return Float64Array.from(data as ArrayLike<number | bigint>, Number);
}

/** The place of an index that may count from the end; -1 outside. */
export function hostPlace(index: number, size: number): number {
  const place = index < 0 ? index + size : index;
  return place >= 0 && place < size ? place : -1;
}
