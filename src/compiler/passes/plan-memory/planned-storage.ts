/** A tensor that a block computes, from the step that computes it to the last that reads it. */
export interface TensorInterval {
  readonly first: number;
  readonly last: number;
  /** Bytes; undefined where nothing bounds them. */
  readonly size: number | undefined;
  /** Only tensors of one class share a storage: the device, and the size where it is a formula. */
  readonly storageClass: string;
  /** True if other tensors may use its memory before and after it. */
  readonly isShared: boolean;
  /** Indices of tensors that its kernel reads: those are in other storages. */
  readonly reads: readonly number[];
}

/** Memory that tensors have one after the other, or side by side. */
export interface PlannedStorage {
  /** Bytes; undefined where nothing bounds them. */
  size: number | undefined;
  first: number;
  last: number;
  readonly tensors: number[];
  readonly byteOffsets: number[];
  /** The storage that it is a part of in time: the pool has the memory in between. */
  readonly whole?: PlannedStorage;
}

/** Bytes of the tensors that are alive in each step, and what is held beside them. */
export function liveBytes(
  tensors: readonly Pick<TensorInterval, 'first' | 'last' | 'size'>[],
  others: readonly number[],
): number[] {
  const changes = new Array<number>(others.length + 1).fill(0);
  const change = (step: number, by: number): void => {
    changes[step] = (changes[step] ?? 0) + by;
  };
  for (const { first, last, size = 0 } of tensors) {
    change(first, size);
    change(last + 1, -size);
  }
  let live = 0;
  return others.map((bytes, step) => (live += changes[step] ?? 0) + bytes);
}
