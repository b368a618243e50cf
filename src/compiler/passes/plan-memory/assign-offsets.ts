import type { PlannedStorage, TensorInterval } from './planned-storage.ts';

/** A tensor of known size that may share its memory. */
interface SizedTensor extends TensorInterval {
  readonly index: number;
  readonly size: number;
}

type Order = (a: SizedTensor, b: SizedTensor) => number;

const bySize: Order = (a, b) => b.size - a.size || a.first - b.first;
const byArea: Order = (a, b) => areaOf(b) - areaOf(a) || a.first - b.first;
const inOrder: Order = (a, b) => a.first - b.first;
const byLaterSize: Order = (a, b) => b.size - a.size || b.first - a.first;

/** In which order tensors are placed. None is the best for all programs. */
const ORDERS: readonly Order[] = [bySize, inOrder, byArea, byLaterSize];

/** Which of several places that need no more memory a tensor gets. */
type Fit = 'first' | 'tightest gap' | 'smallest storage';

const FITS: readonly Fit[] = ['first', 'tightest gap', 'smallest storage'];

/** One way to place tensors. */
interface Attempt {
  readonly order: readonly SizedTensor[];
  readonly fit: Fit;
}

/** Beyond so many tensors orders are not improved. */
const MAX_IMPROVED = 128;

/**
 * Assigns the tensors of a block offsets in storages, where they lie side by side or one after the other: greedily,
 * in several orders, each with several fits, and then in orders near the best of these. Two tensors of
 * which the kernel of one reads the other have different storages. `isBetter` is given each plan, and
 * tells whether it is better than all before. Pisarchyk and Lee, "Efficient Memory Management for Deep
 * Neural Net Inference", 2020, has the greedy orders for one storage.
 */
export function assignOffsets(
  tensors: readonly TensorInterval[],
  isBetter: (storages: readonly PlannedStorage[]) => boolean,
): void {
  if (tensors.some(isFormula)) return;
  const sized = tensors.flatMap((tensor, index) =>
    tensor.isShared && tensor.size !== undefined ? [{ ...tensor, size: tensor.size, index }] : [],
  );
  const own = tensors.flatMap(({ size, first, last, isShared }, index) =>
    isShared ? [] : [{ size, first, last, tensors: [index], byteOffsets: [0] }],
  );
  const conflicts = conflictsOf(tensors);
  const attempt = ({ order, fit }: Attempt): boolean =>
    isBetter([...new OffsetAssignment(conflicts, fit).run(order), ...own]);
  let best: Attempt | undefined;
  for (const compare of ORDERS) {
    const order = [...sized].sort(compare);
    for (const fit of FITS) if (attempt({ order, fit })) best = { order, fit };
  }
  if (sized.length > MAX_IMPROVED) return;
  // Whatever was the best, an order by size has large storages that later tensors need not be in.
  const bySizes: Attempt = { order: [...sized].sort(bySize), fit: 'smallest storage' };
  for (const start of best === undefined ? [bySizes] : [best, bySizes]) {
    let current = start;
    for (const { index } of start.order) {
      for (const other of conflicts[index] ?? []) {
        const moved = { ...current, order: movedBefore(current.order, index, other) };
        if (moved.order !== current.order && attempt(moved)) current = moved;
      }
    }
  }
}

/** The order with one tensor directly before another one that came earlier. */
function movedBefore(
  order: readonly SizedTensor[],
  index: number,
  other: number,
): readonly SizedTensor[] {
  const from = order.findIndex((tensor) => tensor.index === index);
  const to = order.findIndex((tensor) => tensor.index === other);
  if (to < 0 || from <= to) return order;
  return order.toSpliced(from, 1).toSpliced(to, 0, ...order.slice(from, from + 1));
}

/** Tensors of formulas share storages one after the other, whose sizes are not known here. */
function isFormula({ isShared, size }: TensorInterval): boolean {
  return isShared && size === undefined;
}

/** The tensors that may not be in the storage of each tensor. */
function conflictsOf(tensors: readonly TensorInterval[]): readonly ReadonlySet<number>[] {
  const conflicts = tensors.map(() => new Set<number>());
  for (const [index, { reads }] of tensors.entries()) {
    for (const read of reads) {
      conflicts[index]?.add(read);
      conflicts[read]?.add(index);
    }
  }
  return conflicts;
}

function areaOf({ size, first, last }: SizedTensor): number {
  return size * (last - first + 1);
}

interface Occupied {
  readonly first: number;
  readonly last: number;
  readonly begin: number;
  readonly end: number;
}

interface Arena {
  readonly storageClass: string;
  readonly storage: PlannedStorage & { size: number };
  /** Occupied ranges, in the order of their begins. */
  readonly occupied: Occupied[];
}

interface Place {
  readonly byteOffset: number;
  /** Bytes by which the storage grows. */
  readonly growth: number;
  /** Bytes of the gap that stay empty. */
  readonly waste: number;
  /** Bytes that the storage then has. */
  readonly size: number;
}

class OffsetAssignment {
  readonly #conflicts: readonly ReadonlySet<number>[];
  readonly #fit: Fit;
  readonly #arenas: Arena[] = [];
  readonly #arenaOf = new Map<number, Arena>();

  constructor(conflicts: readonly ReadonlySet<number>[], fit: Fit) {
    this.#conflicts = conflicts;
    this.#fit = fit;
  }

  run(tensors: readonly SizedTensor[]): PlannedStorage[] {
    for (const tensor of tensors) this.#place(tensor);
    return this.#arenas.map(({ storage }) => storage);
  }

  #place(tensor: SizedTensor): void {
    const { index, size, first, last, storageClass } = tensor;
    const conflicts = new Set<Arena>();
    for (const other of this.#conflicts[index] ?? []) {
      const arena = this.#arenaOf.get(other);
      if (arena !== undefined) conflicts.add(arena);
    }
    let best: { readonly arena: Arena; readonly place: Place } | undefined;
    for (const arena of this.#arenas) {
      if (arena.storageClass !== storageClass || conflicts.has(arena)) continue;
      const place = placeIn(arena, tensor);
      if (best === undefined || this.#isBetter(place, best.place)) best = { arena, place };
    }
    const isNew = best === undefined || best.place.growth >= size;
    const arena = isNew || best === undefined ? this.#open(tensor) : best.arena;
    const begin = isNew ? 0 : (best?.place.byteOffset ?? 0);
    this.#arenaOf.set(index, arena);
    const { storage, occupied } = arena;
    storage.size = Math.max(storage.size, begin + size);
    storage.first = Math.min(storage.first, first);
    storage.last = Math.max(storage.last, last);
    storage.tensors.push(index);
    storage.byteOffsets.push(begin);
    const at = occupied.findIndex((other) => other.begin > begin);
    occupied.splice(at < 0 ? occupied.length : at, 0, { first, last, begin, end: begin + size });
  }

  #isBetter(place: Place, than: Place): boolean {
    if (place.growth !== than.growth) return place.growth < than.growth;
    if (this.#fit === 'first') return false;
    return this.#fit === 'tightest gap' ? place.waste < than.waste : place.size < than.size;
  }

  #open({ storageClass, first, last }: SizedTensor): Arena {
    const storage = { size: 0, first, last, tensors: [], byteOffsets: [] };
    const arena: Arena = { storageClass, storage, occupied: [] };
    this.#arenas.push(arena);
    return arena;
  }
}

/** The smallest gap that is large enough among the tensors that are alive with this one, or the end. */
function placeIn({ storage, occupied }: Arena, { size, first, last }: SizedTensor): Place {
  const { size: whole } = storage;
  let end = 0;
  let gap: Place | undefined;
  for (const other of occupied) {
    if (other.first > last || other.last < first) continue;
    const waste = other.begin - end - size;
    if (waste >= 0 && (gap === undefined || waste < gap.waste)) {
      gap = { byteOffset: end, growth: 0, waste, size: whole };
    }
    end = Math.max(end, other.end);
  }
  if (gap !== undefined) return gap;
  const growth = Math.max(0, end + size - whole);
  return { byteOffset: end, growth, waste: Math.max(0, whole - end - size), size: whole };
}
