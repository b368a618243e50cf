/** Storages begin at multiples of this, and no buffer is smaller. */
export const STORAGE_ALIGNMENT = 256;

/** No storage of a size class wastes more than this. */
const MAX_WASTE_BYTE_LENGTH = 8 * 1024 * 1024;

/**
 * The capacity for a request: sizes grow by a quarter of a power of two, so that a slowly growing
 * shape meets the same class again, while at most a fifth is wasted; from 32 MiB on classes are
 * 8 MiB apart. A class beyond `limit` becomes the limit itself.
 */
export function sizeClass(byteLength: number, limit: number): number {
  if (byteLength <= STORAGE_ALIGNMENT) return STORAGE_ALIGNMENT;
  const step = stepAt(byteLength);
  const capacity = Math.ceil(byteLength / step) * step;
  return capacity <= limit ? capacity : Math.max(byteLength, Math.floor(limit / 4) * 4);
}

/** The class below that of capacity `capacity`. */
export function classBelow(capacity: number): number {
  return Math.max(STORAGE_ALIGNMENT, capacity - stepAt(capacity - 1));
}

function stepAt(byteLength: number): number {
  const power = 2 ** Math.floor(Math.log2(byteLength));
  return Math.min(Math.max(power / 4, STORAGE_ALIGNMENT), MAX_WASTE_BYTE_LENGTH);
}
