import type { MemoryUse } from '../../bytecode/memory/memory-use.ts';

/** A storage as a rectangle: instructions from left to right, bytes from the bottom up. */
export interface StorageBox {
  /** Its place in `MemoryUse.storages`. */
  readonly storage: number;
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Boxes that do not overlap, each as low as those before it leave room: inputs first, then in the order of allocation.
 * Storages of unknown or no size have none.
 */
export function placeStorages({ storages }: MemoryUse): readonly StorageBox[] {
  const boxes: StorageBox[] = [];
  const all = storages.flatMap(({ spans, byteLength = 0 }, storage) =>
    byteLength === 0 ? [] : spans.map(([first, last]) => ({ storage, first, last, byteLength })),
  );
  let open: StorageBox[] = [];
  for (const { storage, first, last, byteLength } of all.toSorted((a, b) => a.first - b.first)) {
    open = open.filter((other) => other.last >= first);
    let from = 0;
    for (const other of open) {
      if (other.from >= from + byteLength) break;
      from = Math.max(from, other.to);
    }
    const box = { storage, first, last, from, to: from + byteLength };
    boxes.push(box);
    open.push(box);
    open.sort((a, b) => a.from - b.from);
  }
  return boxes;
}
