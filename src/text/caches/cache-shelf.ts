import { CacheMemory } from './cache-memory.ts';
import { type CachePlace, TextCache } from './text-cache.ts';

/** Tokens that are read again rather than kept for a text that may never come back. */
const SHORT_TAIL = 16;

/** Caches of texts that nobody goes on with at the moment, so that what a later text shares with one of them is not read again. */
export class CacheShelf {
  readonly #place: CachePlace;
  readonly #most: number;
  /** The one that was used last at the end. */
  #idle: TextCache[] = [];

  /**
   * Keeps the caches of `most` texts; all that are in use and on the shelf take `bytes` at most.
   */
  constructor(place: Omit<CachePlace, 'memory'>, { most, bytes }: { most: number; bytes: number }) {
    this.#most = most;
    const memory = new CacheMemory(bytes);
    memory.evict = () => {
      const oldest = this.#idle.shift();
      oldest?.dispose();
      return oldest !== undefined;
    };
    this.#place = { ...place, memory };
  }

  /** The memory of all caches, in use and idle. */
  get memory(): CacheMemory {
    return this.#place.memory;
  }

  /**
   * A cache for a text: the idle one that shares the longest prefix with it. If many tokens of that
   * one come after the prefix, it stays idle, and the text gets a copy of the prefix. Without such
   * a cache the text gets a new one, or the oldest idle one where the shelf is full.
   */
  take(tokens: readonly number[]): TextCache {
    const best = this.best(tokens);
    const shared = best?.shared(tokens) ?? 0;
    if (best === undefined || shared <= 1) {
      return this.#idle.length < this.#most ? new TextCache(this.#place) : this.#reused();
    }
    const { length } = best.tokens;
    if (length - shared > SHORT_TAIL && this.#most > 1) return best.fork(shared);
    this.#idle = this.#idle.filter((cache) => cache !== best);
    return best;
  }

  /** The idle cache that holds most of a text. */
  best(tokens: readonly number[]): TextCache | undefined {
    return this.#idle.toSorted((a, b) => b.shared(tokens) - a.shared(tokens))[0];
  }

  /** An empty one that is not on the shelf. */
  empty(): TextCache {
    return new TextCache(this.#place);
  }

  giveBack(cache: TextCache): void {
    this.#idle.push(cache);
    while (this.#idle.length > this.#most) this.#idle.shift()?.dispose();
  }

  dispose(): void {
    for (const cache of this.#idle) cache.dispose();
    this.#idle = [];
  }

  /** The one that was used longest ago: its memory is there. */
  #reused(): TextCache {
    return this.#idle.shift() ?? new TextCache(this.#place);
  }
}
