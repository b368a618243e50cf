import type { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { Tensor } from '../../client/values/tensor.ts';
import { RuntimeError } from '../../core/errors.ts';
import { CacheMemory, HeldCaches } from './cache-memory.ts';
import type { Sampling } from '../sampling.ts';
import type { Caches, DrawOrder, Penalties, Pending, TextProgram } from '../text-program.ts';

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

/** Positions of a new cache; it doubles. */
const FIRST_CAPACITY = 128;

export interface CachePlace {
  readonly program: TextProgram;
  /** The most tokens of a text. */
  readonly context: number;
  readonly memory: CacheMemory;
}

/** Caches of one text on the device, and which tokens they hold. */
export class TextCache {
  readonly #place: CachePlace;
  #tokens: number[] = [];
  #held: HeldCaches | undefined;
  #logits: DeviceTensor | undefined;
  /** Tokens that there is to be room for as soon as it grows. */
  #reserved = 0;

  constructor(place: CachePlace) {
    this.#place = place;
  }

  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /** Positions that it has room for. */
  get capacity(): number {
    return this.#held?.capacity ?? 0;
  }

  /** Makes room for so many tokens when it is next written to, if memory is free for them. */
  reserve(length: number): void {
    this.#reserved = Math.min(length, this.#place.context);
  }

  /** How many tokens of a text it holds already. */
  shared(tokens: readonly number[]): number {
    const end = this.#tokens.findIndex((token, i) => token !== tokens[i]);
    return end < 0 ? Math.min(this.#tokens.length, tokens.length) : end;
  }

  /** Forgets the tokens behind some length. Nothing is moved: later ones are written over them. */
  rollBack(length: number): void {
    if (length >= this.#tokens.length) return;
    this.#tokens.length = length;
    this.#forgetLogits();
  }

  /** A cache that holds the first tokens of this one. Its memory is a copy only when one of the two is written to. */
  fork(length: number): TextCache {
    const fork = new TextCache(this.#place);
    fork.#held = this.#held?.share();
    fork.#tokens = this.#tokens.slice(0, length);
    return fork;
  }

  /** Makes the cache that of a text: what it holds of it is not read again. */
  async read(tokens: readonly number[]): Promise<void> {
    // The logits are those of the last token, so that one is read in any case.
    const all = this.shared(tokens);
    if (this.#logits && all === tokens.length && all === this.#tokens.length) return;
    const position = Math.min(all, tokens.length - 1);
    await this.#makeRoom(tokens.length);
    this.rollBack(position);
    this.#forgetLogits();
    const added = tokens.slice(position);
    const { program } = this.#place;
    // While they are in use it has none.
    const { capacity } = this;
    const reached = await this.#use((caches, isOwn) =>
      program.read(caches, added, { positions: [position], capacity, isOwn }),
    );
    this.#logits = reached.logits;
    this.#tokens.push(...added);
  }

  /**
   * Begins to generate up to a chunk of tokens behind those that it holds. The tokens themselves are told to
   * {@link hold} when they are known.
   */
  begin(count: number, options: BeginOptions): Promise<Pending> {
    const { program } = this.#place;
    return this.#draw(count, options, (order) => program.step({ ...order, count }));
  }

  /** Begins to verify tokens that may come behind those that it holds, see `TextProgram.verify`. */
  verify(draft: readonly number[], options: BeginOptions): Promise<Pending> {
    const { program } = this.#place;
    return this.#draw(program.guesses, options, (order) => program.verify({ ...order, draft }));
  }

  /** Says which tokens it holds now. */
  hold(tokens: readonly number[]): void {
    this.#tokens.push(...tokens);
  }

  /** Says that the device went further than the tokens that it holds. */
  invalidate(): void {
    this.#forgetLogits();
  }

  /** Keys and values of its first tokens, on the page. None where it is empty. */
  async save(length: number): Promise<Record<string, Tensor>> {
    if (this.#held === undefined) return {};
    return await this.#place.program.cut(this.#held.caches, length);
  }

  /** Takes keys and values that {@link save} gave, of some tokens. */
  async restore(tokens: readonly number[], saved: Readonly<Record<string, Tensor>>): Promise<void> {
    const { program, context } = this.#place;
    const capacity = Math.min(roomFor(tokens.length, 0), context);
    this.#held = await this.#make(capacity, () => program.grow(saved, capacity, false));
    this.#tokens = [...tokens];
  }

  /** Frees the memory. Idempotent. */
  dispose(): void {
    this.#held?.release();
    this.#held = undefined;
    this.#tokens = [];
    this.#forgetLogits();
  }

  async #draw(
    count: number,
    { position, sampling, penalties, allowed }: BeginOptions,
    call: (order: DrawOrder) => Promise<Pending>,
  ): Promise<Pending> {
    await this.#makeRoom(position + count);
    const logits = this.#logits;
    if (logits === undefined) throw new Error('internal: tokens after nothing');
    this.#logits = undefined;
    const order = { positions: [position], samplings: [sampling], penalties, allowed, logits };
    const pending = await this.#use((caches, isOwn) => call({ ...order, caches, isOwn }));
    this.#logits = pending.logits;
    if (penalties === undefined) pending.counts.dispose();
    return pending;
  }

  async #makeRoom(length: number): Promise<void> {
    const { program, context, memory } = this.#place;
    requireRoom(length, context);
    const held = this.#held;
    const capacity = held?.capacity ?? 0;
    const needed = Math.min(roomFor(length, capacity), context);
    const reserved = Math.min(roomFor(this.#reserved, capacity), context);
    this.#reserved = 0;
    // The text may end before, so that nobody else's memory is taken for what is only reserved.
    const isFree = reserved > needed && memory.hasRoom(reserved * program.bytesPerPosition);
    const more = isFree ? reserved : needed;
    if (more <= capacity) return;
    if (held === undefined) {
      this.#held = await this.#make(more, () => program.allocate(more));
      return;
    }
    this.#held = undefined;
    const { isOwn } = held;
    try {
      this.#held = await this.#make(more, () => program.grow(held.caches, more, isOwn));
    } catch (error) {
      held.release();
      this.dispose();
      throw error;
    }
    held.release();
  }

  #make(capacity: number, call: () => Promise<Caches>): Promise<HeldCaches> {
    const { program, memory } = this.#place;
    return HeldCaches.make({ capacity, memory, bytes: capacity * program.bytesPerPosition }, call);
  }

  /** Caches go into a call and come back, or a copy of those that others hold too; where it fails they are gone. */
  async #use<Result extends { readonly caches: Caches }>(
    call: (caches: Caches, isOwn: boolean) => Promise<Result>,
  ): Promise<Result> {
    const held = this.#held;
    if (held === undefined) throw new Error('internal: a cache that is in use');
    this.#held = undefined;
    try {
      if (held.isOwn) {
        const result = await call(held.caches, true);
        held.caches = result.caches;
        this.#held = held;
        return result;
      }
      const made: Result[] = [];
      this.#held = await this.#make(held.capacity, async () => {
        const result = await call(held.caches, false);
        made.push(result);
        return result.caches;
      });
      held.release();
      return made[0] as Result;
    } catch (error) {
      held.release();
      this.dispose();
      throw error;
    }
  }

  #forgetLogits(): void {
    this.#logits?.dispose();
    this.#logits = undefined;
  }
}

interface BeginOptions {
  readonly position: number;
  readonly sampling: Sampling;
  readonly penalties: Penalties | undefined;
  readonly allowed: Uint32Array | undefined;
}

/** A capacity for as many tokens, from one that is too small. */
export function roomFor(length: number, capacity: number): number {
  let room = Math.max(capacity, FIRST_CAPACITY);
  while (room < length) room *= 2;
  return room;
}

/** Throws RuntimeError for a text that is longer than the model sees. */
export function requireRoom(length: number, context: number): void {
  if (length <= context) return;
  throw new RuntimeError({
    where: 'text generation',
    got: `${length} tokens`,
    expected: `at most ${context}, which is all that the model sees at a time`,
    remedy: "Shorten the prompt, or let the text slide with overflow: 'slide'.",
  });
}
