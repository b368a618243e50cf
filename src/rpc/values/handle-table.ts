import { UsageError } from '../../core/errors.ts';
import { LimitError } from '../errors.ts';
import type { RpcTarget, TensorHandle } from './rpc-value.ts';
import { malformed } from './wire-values.ts';

/** An object that one side holds for the other. */
type Exported = RpcTarget | (TensorHandle & { release(): void });

interface Entry {
  readonly exported: Exported;
  /** The function or tensor that it stands for. */
  readonly key: object;
  sent: number;
}

/**
 * Functions and tensors that the other side holds by number. Each time that a number is sent counts;
 * the other side gives back how often it received it, so that a number which is released on one side
 * while it is sent again by the other one stays.
 */
export class ExportTable {
  readonly #entries = new Map<number, Entry>();
  readonly #ids = new Map<object, number>();
  readonly #limit: number;
  #nextId = 1;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The number of something, which the other side receives once more. Throws LimitError. */
  add(key: object, create: () => Exported): number {
    const known = this.#ids.get(key);
    const entry = known === undefined ? undefined : this.#entries.get(known);
    if (known !== undefined && entry !== undefined) {
      entry.sent++;
      return known;
    }
    if (this.#entries.size >= this.#limit) throw tooManyHandles(this.#limit);
    const id = this.#nextId++;
    this.#entries.set(id, { exported: create(), key, sent: 1 });
    this.#ids.set(key, id);
    return id;
  }

  /** Returns true if the other side holds a handle of this object. */
  has(key: object): boolean {
    return this.#ids.has(key);
  }

  /** Throws UsageError for a number that was released, ProtocolError for one never given out. */
  get(id: number): Exported {
    const entry = this.#entries.get(id);
    if (entry !== undefined) return entry.exported;
    if (id === 0 || id >= this.#nextId)
      throw malformed(`the handle ${id}, which was not given out`);
    throw new UsageError({
      where: 'remote connection',
      got: 'a handle that was released',
      expected: 'a function or tensor that is still held',
    });
  }

  /** The object that a number stands for on this side. */
  key(id: number): object {
    this.get(id);
    return this.#entries.get(id)?.key ?? this;
  }

  release(id: number, count: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    entry.sent -= count;
    if (entry.sent > 0) return;
    this.#entries.delete(id);
    this.#ids.delete(entry.key);
    entry.exported.release();
  }

  /** Drops a function or tensor of this side, however often the other side has it. */
  revoke(key: object): void {
    const id = this.#ids.get(key);
    if (id !== undefined) this.release(id, Number.POSITIVE_INFINITY);
  }

  clear(): void {
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    this.#ids.clear();
    for (const { exported } of entries) exported.release();
  }
}

export function tooManyHandles(limit: number): LimitError {
  return new LimitError({
    where: 'remote connection',
    got: `more than ${limit} functions and tensors that one side holds for the other`,
    expected: `at most ${limit}`,
    remedy: 'Release handles that are not used any more, or raise limits.handles.',
  });
}

interface Import {
  readonly proxy: WeakRef<object>;
  received: number;
}

/** Objects of the other side that this one holds. Proxies that are dropped are released in the end. */
export class ImportTable {
  readonly #imports = new Map<number, Import>();
  readonly #send: (id: number, count: number) => void;
  /** A net only: who holds device memory releases it. */
  readonly #dropped = new FinalizationRegistry<{ id: number; entry: Import }>(({ id, entry }) => {
    if (this.#imports.get(id) === entry) this.release(id);
  });

  constructor(send: (id: number, count: number) => void) {
    this.#send = send;
  }

  get size(): number {
    return this.#imports.size;
  }

  get<T extends object>(id: number, create: () => T): T {
    const known = this.#imports.get(id);
    const proxy = known?.proxy.deref() as T | undefined;
    if (known !== undefined && proxy !== undefined) {
      known.received++;
      return proxy;
    }
    const made = create();
    const entry: Import = { proxy: new WeakRef(made), received: (known?.received ?? 0) + 1 };
    this.#imports.set(id, entry);
    this.#dropped.register(made, { id, entry });
    return made;
  }

  release(id: number): void {
    const entry = this.#imports.get(id);
    if (entry === undefined) return;
    this.#imports.delete(id);
    this.#send(id, entry.received);
  }

  clear(): void {
    this.#imports.clear();
  }
}
