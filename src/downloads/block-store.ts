/** Keeps blocks of one file, each whole. */
export interface BlockStore {
  readonly indices: ReadonlySet<number>;
  /** A block as it was written; undefined for one that is not there or no longer what it was. */
  read(index: number): Promise<Uint8Array | undefined>;
  write(index: number, bytes: Uint8Array): Promise<void>;
  clear(): Promise<void>;
}

/** In memory: for a server without ranges, which cannot be asked for bytes again. Beside another store it only reads from that. */
export class MemoryBlocks implements BlockStore {
  readonly #blocks = new Map<number, Uint8Array>();
  readonly #other: BlockStore | undefined;

  constructor(other?: BlockStore) {
    this.#other = other;
  }

  get indices(): ReadonlySet<number> {
    return new Set([...this.#blocks.keys(), ...(this.#other?.indices ?? [])]);
  }

  async read(index: number): Promise<Uint8Array | undefined> {
    return this.#blocks.get(index) ?? this.#other?.read(index);
  }

  async write(index: number, bytes: Uint8Array): Promise<void> {
    this.#blocks.set(index, bytes);
  }

  async clear(): Promise<void> {
    this.#blocks.clear();
    await this.#other?.clear();
  }
}
