import type { HostTensor } from '../../core/host-tensor.ts';

/** The elements of a tensor of integers as numbers. */
export function hostIntegers({ data }: HostTensor): Float64Array {
  return Float64Array.from(data as ArrayLike<number | bigint>, Number);
}

/** The place of an index that may count from the end; -1 outside. */
export function hostPlace(index: number, size: number): number {
  const place = index < 0 ? index + size : index;
  return place >= 0 && place < size ? place : -1;
}
