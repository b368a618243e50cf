import { OutOfMemoryError } from '../../core/errors.ts';
import { type Caches, disposeCaches } from '../text-program.ts';

/** Counts the bytes in the caches of all texts of a model, and limits them. */
export class CacheMemory {
  /** Frees the caches of a text that nobody goes on with; false where there is none. */
  evict: () => boolean = () => false;
  readonly #limit: number;
  #used = 0;

  /** Limits all caches together to `limit` bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes that caches hold. */
  get used(): number {
    return this.#used;
  }

  /** Returns true if some bytes can be taken without freeing any. */
  hasRoom(bytes: number): boolean {
    return this.#used + bytes <= this.#limit;
  }

  /** Takes some bytes. Frees what nobody needs for them; throws OutOfMemoryError where that is not enough. */
  take(bytes: number): void {
    while (this.#used + bytes > this.#limit) {
      if (this.evict()) continue;
      throw new OutOfMemoryError({
        where: 'text generation',
        got: `caches of ${this.#used} bytes in use, and ${bytes} more for a text`,
        expected: `at most ${this.#limit} together, the cacheBytes of TextModel.load`,
        remedy: 'Let other texts end first, shorten this one, or allow more.',
      });
    }
    this.#used += bytes;
  }

  /** Gives back bytes that were taken. */
  give(bytes: number): void {
    this.#used -= bytes;
  }
}

interface HeldPlace {
  /** Positions that there is room for. */
  readonly capacity: number;
  readonly memory: CacheMemory;
  readonly bytes: number;
}

/** Caches that one or more texts hold. Who changes them while others hold them, too, gets a copy. */
export class HeldCaches {
  /** Those that the last call gave. */
  caches: Caches;
  /** Positions that there is room for. */
  readonly capacity: number;
  readonly #memory: CacheMemory;
  readonly #bytes: number;
  #holders = 1;

  private constructor(caches: Caches, { capacity, memory, bytes }: HeldPlace) {
    this.caches = caches;
    this.capacity = capacity;
    this.#memory = memory;
    this.#bytes = bytes;
  }

  /**
   * The caches that a call makes. Their memory is taken first, and given back if the call fails.
   */
  static async make(place: HeldPlace, call: () => Promise<Caches>): Promise<HeldCaches> {
    place.memory.take(place.bytes);
    try {
      return new HeldCaches(await call(), place);
    } catch (error) {
      place.memory.give(place.bytes);
      throw error;
    }
  }

  /** True if they have a single holder, who may overwrite them. */
  get isOwn(): boolean {
    return this.#holders === 1;
  }

  /** The same for one more holder. */
  share(): HeldCaches {
    this.#holders++;
    return this;
  }

  /** Whoever calls it does not hold them any more. Those that a call has used up are gone already. */
  release(): void {
    if (--this.#holders > 0) return;
    disposeCaches(this.caches);
    this.#memory.give(this.#bytes);
  }
}
