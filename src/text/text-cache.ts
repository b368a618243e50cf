import type { DeviceTensor } from '../client/device-tensor.ts';
import { RuntimeError } from '../core/errors.ts';
import type { Sampling } from './sampling.ts';
import {
  type Begun,
  type Caches,
  disposeCaches,
  type Penalties,
  type TextProgram,
} from './text-program.ts';

/** Positions of a new cache; it doubles. */
const FIRST_CAPACITY = 128;

/** Caches of one text on the device, and which tokens they hold. */
export class TextCache {
  readonly #program: TextProgram;
  readonly #context: number;
  #tokens: number[] = [];
  #caches: Caches | undefined;
  #logits: DeviceTensor | undefined;
  #capacity = 0;

  /** For texts of at most `context` tokens. */
  constructor(program: TextProgram, context: number) {
    this.#program = program;
    this.#context = context;
  }

  /** The tokens that it holds, from the first one on. */
  get tokens(): readonly number[] {
    return this.#tokens;
  }

  /** Positions that it has room for. */
  get capacity(): number {
    return this.#capacity;
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
    const reached = await this.#use((caches) =>
      this.#program.read(caches, added, { position, capacity: this.#capacity }),
    );
    this.#logits = reached.logits;
    this.#tokens.push(...added);
  }

  /**
   * Begins to generate up to a chunk of tokens behind those that it holds. The tokens themselves are told to
   * {@link hold} when they are known.
   */
  async begin(
    count: number,
    { position, sampling, penalties, allowed }: BeginOptions,
  ): Promise<Begun> {
    await this.#makeRoom(position + count);
    const logits = this.#logits;
    if (logits === undefined) throw new Error('internal: tokens after nothing');
    this.#logits = undefined;
    const begun = await this.#use((caches) =>
      this.#program.step({ caches, logits, count, position, sampling, penalties, allowed }),
    );
    this.#logits = begun.logits;
    if (penalties === undefined) begun.counts.dispose();
    return begun;
  }

  /** Says which tokens it holds now. */
  hold(tokens: readonly number[]): void {
    this.#tokens.push(...tokens);
  }

  /** Says that the device went further than the tokens that it holds. */
  invalidate(): void {
    this.#forgetLogits();
  }

  /** Frees the memory. Idempotent. */
  dispose(): void {
    if (this.#caches) disposeCaches(this.#caches);
    this.#caches = undefined;
    this.#tokens = [];
    this.#capacity = 0;
    this.#forgetLogits();
  }

  async #makeRoom(length: number): Promise<void> {
    if (length > this.#context) {
      throw new RuntimeError({
        where: 'text generation',
        got: `${length} tokens`,
        expected: `at most ${this.#context}, which is all that the model sees at a time`,
        remedy: "Shorten the prompt, or let the text slide with overflow: 'slide'.",
      });
    }
    if (length <= this.#capacity) return;
    let capacity = Math.max(this.#capacity, FIRST_CAPACITY);
    while (capacity < length) capacity *= 2;
    const more = Math.min(capacity, this.#context);
    if (this.#capacity === 0) this.#caches = await this.#program.allocate(more);
    else {
      await this.#use(async (caches) => ({ caches: await this.#program.grow(caches, more) }));
    }
    this.#capacity = more;
  }

  /** Caches go into a call and come back; where it fails they are gone. */
  async #use<Result extends { readonly caches: Caches }>(
    call: (caches: Caches) => Promise<Result>,
  ): Promise<Result> {
    const caches = this.#caches;
    if (caches === undefined) throw new Error('internal: a cache that is in use');
    this.#caches = undefined;
    try {
      const result = await call(caches);
      this.#caches = result.caches;
      return result;
    } catch (error) {
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
