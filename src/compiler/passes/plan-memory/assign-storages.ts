import { assignOffsets } from './assign-offsets.ts';
import { liveBytes, type PlannedStorage, type TensorInterval } from './planned-storage.ts';
import { RangePeaks } from './range-peaks.ts';

/** How many free storages are tried for a tensor. */
const MAX_TRIES = 8;

/**
 * How much more than the largest set of values that are alive at once may be held. An eighth halves the
 * number of storages, and an allocator that keeps what is freed then holds less in all.
 */
const SLACK = 9 / 8;

/** Blocks of more tensors get no offsets, which takes quadratic time. */
const MAX_OFFSETS = 512;

/**
 * Gives each tensor of a block a storage. A kernel never writes to a storage that it reads: no GPU binds a
 * buffer for both. `others`: bytes that are held anyway, by step.
 *
 * Of a plan in order of computation and of several that assign offsets, that whose storages take the least
 * memory is taken, and of equal ones that which leaves the most to kernels for a time; what it holds
 * at once has to stay within the largest set of values that are alive at once, and an eighth.
 */
export function assignStorages(
  tensors: readonly TensorInterval[],
  others: readonly number[],
): PlannedStorage[] {
  const live = liveBytes(tensors, others);
  const budget = greatest(live) * SLACK;
  const inOrder = assignInOrder(tensors, { live, budget });
  if (tensors.length > MAX_OFFSETS) return inOrder;
  let best: Candidate | undefined;
  const isBetter = (storages: readonly PlannedStorage[]): boolean => {
    if (greatest(liveBytes(storages, others)) > budget) return false;
    const pooled = pooledBytes(storages);
    if (best !== undefined && pooled > best.pooled) return false;
    const isLevel = best !== undefined && pooled === best.pooled;
    if (isLevel && busyBytes(storages, tensors) >= (best?.busy ?? 0)) return false;
    const split = splitAtGaps(storages, tensors);
    const busy = split.reduce(
      (sum, { size = 0, first, last }) => sum + size * (last - first + 1),
      0,
    );
    if (isLevel && busy >= (best?.busy ?? 0)) return false;
    best = { storages: split, pooled, busy };
    return true;
  };
  isBetter(inOrder);
  assignOffsets(tensors, isBetter);
  return best?.storages ?? inOrder;
}

interface Candidate {
  readonly storages: PlannedStorage[];
  /** Bytes of the buffers that the storages take from the pool. */
  readonly pooled: number;
  /** Bytes of storages times the steps during which they are no pool's. */
  readonly busy: number;
}

/**
 * In order of computation, one tensor of a storage after the other. A storage is free again in the step
 * after the last that reads its tensor.
 *
 * Best fit: the smallest free storage that is large enough, else the largest of the others, which
 * grows. A reuse costs bytes that hold nothing (the storage while it is free, and what is too large
 * of it later), and is taken only where all that is held then stays within the budget.
 */
function assignInOrder(
  tensors: readonly TensorInterval[],
  { live, budget }: { readonly live: readonly number[]; readonly budget: number },
): PlannedStorage[] {
  const held = new RangePeaks(live);
  const storages: PlannedStorage[] = [];
  const free = new Map<string, PlannedStorage[]>();
  /** Storages by the step after which they are free. */
  const ending = new Map<number, [string, PlannedStorage][]>();
  let step = 0;
  for (const [index, tensor] of tensors.entries()) {
    for (; step < tensor.first; step++) {
      for (const [key, storage] of ending.get(step) ?? []) release(listOf(free, key), storage);
      ending.delete(step);
    }
    const candidates = listOf(free, tensor.storageClass);
    const reused = tensor.isShared ? take(candidates, tensor, { held, budget }) : undefined;
    const { first, last, size } = tensor;
    const storage = reused ?? { size, first, last, tensors: [], byteOffsets: [] };
    if (reused === undefined) storages.push(storage);
    storage.last = last;
    storage.tensors.push(index);
    storage.byteOffsets.push(0);
    if (tensor.isShared) listOf(ending, last).push([tensor.storageClass, storage]);
  }
  return storages;
}

interface Held {
  readonly held: RangePeaks;
  readonly budget: number;
}

/** Takes a storage for a tensor out of those that are free, which are ordered by size. */
function take(
  free: PlannedStorage[],
  tensor: TensorInterval,
  { held, budget }: Held,
): PlannedStorage | undefined {
  const { size } = tensor;
  if (size === undefined) return free.pop();
  const fitting = indexOfSize(free, size);
  for (let i = 0; i < MAX_TRIES; i++) {
    // Larger ones from the best fit upwards; after those the largest smaller one.
    const index = fitting + i < free.length ? fitting + i : fitting - 1;
    const storage = free[index];
    if (storage === undefined) return undefined;
    const costs = costOf(storage, tensor, size);
    if (costs.every(([from, to, bytes]) => held.peak(from, to) + bytes <= budget)) {
      for (const [from, to, bytes] of costs) held.add(from, to, bytes);
      storage.size = Math.max(storage.size ?? 0, size);
      free.splice(index, 1);
      return storage;
    }
    if (index < fitting) return undefined;
  }
  return undefined;
}

/** Bytes that a reuse adds to what is held, from one step to another. */
function costOf(
  storage: PlannedStorage,
  { first, last }: TensorInterval,
  size: number,
): readonly (readonly [from: number, to: number, bytes: number])[] {
  const before = storage.size ?? 0;
  const after = Math.max(before, size);
  return [
    [storage.first, storage.last, after - before],
    [storage.last + 1, first - 1, after],
    [first, last, after - size],
  ];
}

/** Among storages of one size the one that was used last comes first. */
function release(free: PlannedStorage[], storage: PlannedStorage): void {
  free.splice(indexOfSize(free, storage.size ?? 0), 0, storage);
}

/** The first index of a storage that is at least so large. */
function indexOfSize(free: readonly PlannedStorage[], size: number): number {
  let low = 0;
  let high = free.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((free[middle]?.size ?? 0) < size) low = middle + 1;
    else high = middle;
  }
  return low;
}

function listOf<K, V>(lists: Map<K, V[]>, key: K): V[] {
  const known = lists.get(key);
  if (known !== undefined) return known;
  const list: V[] = [];
  lists.set(key, list);
  return list;
}

export function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

/** Smaller storages are of little use to kernels. */
const LEAST_BYTE_LENGTH = 64 * 1024;

/**
 * Gives storages back to the pool while no tensor is in them, so that kernels find temporary memory there.
 * Later tensors have another storage of the same size, which gets the same buffer. A storage stays whole
 * where the pool would make more buffers otherwise.
 */
function splitAtGaps(
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
function busyBytes(
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

/** A pool gives a buffer of up to so many times the size before it makes another. */
const MAX_EXCESS = 4;

/**
 * Bytes of the buffers that a pool makes for storages whose sizes are known, when each takes the smallest
 * buffer that is free and not too large, and goes back after its last step.
 */
function pooledBytes(storages: readonly PlannedStorage[]): number {
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
