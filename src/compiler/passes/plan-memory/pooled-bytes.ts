import type { PlannedStorage } from './planned-storage.ts';

/** A pool gives a buffer of up to so many times the size before it makes another. */
const MAX_EXCESS = 4;

/**
 * Bytes of the buffers that a pool makes for storages whose sizes are known, when each takes the smallest
 * buffer that is free and not too large, and goes back after its last step.
 */
export function pooledBytes(storages: readonly PlannedStorage[]): number {
  const buffers: { readonly size: number; end: number }[] = [];
  for (const { size = 0, first, last } of [...storages].sort((a, b) => a.first - b.first)) {
    let taken: (typeof buffers)[number] | undefined;
    for (const buffer of buffers) {
      if (buffer.end >= first || buffer.size < size || buffer.size > MAX_EXCESS * size) continue;
      if (taken === undefined || buffer.size < taken.size) taken = buffer;
    }
    if (taken === undefined) buffers.push({ size, end: last });
    else taken.end = last;
  }
  return buffers.reduce((sum, { size }) => sum + size, 0);
}
