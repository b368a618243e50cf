import type { CodePlace } from '../../core/contracts/paused-call.ts';
import type { TimelineStorage } from '../../core/contracts/run-timeline.ts';
import type { StorageObserver } from '../allocator/allocator.ts';
import type { StorageValue } from '../values/value.ts';

export interface RecordedPlace {
  readonly name: string;
  readonly at: CodePlace;
}

type OpenStorage = { -readonly [K in keyof TimelineStorage]: TimelineStorage[K] } & {
  order: [allocated: number, givenBack: number];
};

/** Storages that are recorded; those after them are not kept. */
const MOST_STORAGES = 50_000;

/** Notes which storages a run allocates, what writes them first, and when they are given back. Times are those of `performance.now()`. */
export class StorageRecorder implements StorageObserver {
  readonly storages: OpenStorage[] = [];
  /** While an instruction runs. */
  place: RecordedPlace | undefined;
  readonly #open = new Map<StorageValue, OpenStorage>();
  /** Those that nothing has written yet. */
  readonly #unwritten = new Set<StorageValue>();
  #changes = 0;

  /** A kernel writes to a storage. */
  written(storage: StorageValue, { name, at }: RecordedPlace): void {
    const open = this.#open.get(storage);
    if (open === undefined || !this.#unwritten.delete(storage)) return;
    open.name = name;
    open.at = at;
  }

  /** Those that are held still end now. */
  stop(): void {
    for (const storage of this.#open.keys()) this.reclaimed(storage);
  }

  allocated(storage: StorageValue): void {
    if (this.storages.length >= MOST_STORAGES) return;
    const { name, at } = this.place ?? {};
    const [device, bytes] = [storage.device.info.name, storage.buffer.byteLength];
    const beginMs = performance.now();
    const order: OpenStorage['order'] = [this.#changes++, 0];
    const open = { device, name, at, bytes, beginMs, endMs: 0, order };
    this.storages.push(open);
    this.#open.set(storage, open);
    this.#unwritten.add(storage);
  }

  reclaimed(storage: StorageValue): void {
    const open = this.#open.get(storage);
    if (open === undefined) return;
    open.endMs = performance.now();
    open.order[1] = this.#changes++;
    this.#open.delete(storage);
    this.#unwritten.delete(storage);
  }
}
