import type { PlannedStorage, TensorInterval } from './planned-storage.ts';
import { pooledBytes } from './pooled-bytes.ts';

/** Smaller storages are of little use to kernels. */
const LEAST_BYTE_LENGTH = 64 * 1024;

/**
 * Gives storages back to the pool while no tensor is in them, so that kernels find temporary memory there.
 * Later tensors have another storage of the same size, which gets the same buffer. A storage stays whole
 * where the pool would make more buffers otherwise.
 */
export function splitAtGaps(
  storages: readonly PlannedStorage[],
  tensors: readonly TensorInterval[],
): PlannedStorage[] {
  let split = [...storages];
  let bytes = pooledBytes(split);
  const large = storages.filter(({ size = 0 }) => size >= LEAST_BYTE_LENGTH);
  for (const storage of large.sort((a, b) => (b.size ?? 0) - (a.size ?? 0))) {
    const parts = partsOf(storage, tensors);
    if (parts.length <= 1) continue;
    const candidate = split.flatMap((other) => (other === storage ? parts : [other]));
    const pooled = pooledBytes(candidate);
    if (pooled > bytes) continue;
    split = candidate;
    bytes = pooled;
  }
  return split;
}

/** Bytes times steps that storages take when each is split at all gaps. */
export function busyBytes(
  storages: readonly PlannedStorage[],
  tensors: readonly TensorInterval[],
): number {
  let busy = 0;
  for (const { size = 0, first, last, tensors: inside } of storages) {
    if (size < LEAST_BYTE_LENGTH) {
      busy += size * (last - first + 1);
      continue;
    }
    const intervals = inside.flatMap((index) => tensors[index] ?? []);
    let end = -1;
    for (const interval of intervals.sort((a, b) => a.first - b.first)) {
      busy += size * Math.max(0, interval.last - Math.max(interval.first - 1, end));
      end = Math.max(end, interval.last);
    }
  }
  return busy;
}

/** One storage for each time during which some tensor is in it. */
function partsOf(storage: PlannedStorage, tensors: readonly TensorInterval[]): PlannedStorage[] {
  const parts: PlannedStorage[] = [];
  const placed = storage.tensors
    .map((index, at) => ({ index, byteOffset: storage.byteOffsets[at] ?? 0 }))
    .sort((a, b) => (tensors[a.index]?.first ?? 0) - (tensors[b.index]?.first ?? 0));
  for (const { index, byteOffset } of placed) {
    const { first = 0, last = 0 } = tensors[index] ?? {};
    let part = parts.at(-1);
    if (part === undefined || part.last + 1 < first) {
      part = { size: storage.size, first, last, tensors: [], byteOffsets: [], whole: storage };
      parts.push(part);
    }
    part.last = Math.max(part.last, last);
    part.tensors.push(index);
    part.byteOffsets.push(byteOffset);
  }
  return parts;
}
