import type { DeviceTensor } from '../client/values/device-tensor.ts';
import { RuntimeError } from '../core/errors.ts';
import { WORD_BITS } from '../core/text-layout.ts';
import { isPenalized, type Sampling } from './sampling.ts';
import type { TextCache } from './caches/text-cache.ts';
import {
  disposePenalties,
  type Drawn,
  type Penalties,
  readDrawn,
  type TextProgram,
} from './text-program.ts';

/** Limits the next token of a text: the automaton of a grammar, for example. */
export interface TokenConstraint {
  /** Sets bit `id % 32` of word `id / 32` for each token that may come next, and clears all others. */
  mask(into: Uint32Array): void;
  /** Goes on by a token; gives whether it was allowed. */
  accept(id: number): boolean;
  /** Tokens that spell what must come next; none where there is a choice. */
  forced?(limit?: number): readonly number[];
}

export interface NextTokens {
  readonly ids: readonly number[];
  /** Logarithms of their probabilities; none for tokens that were not drawn. */
  readonly logprobs: readonly number[];
  /** True if the cache already has their keys and values. */
  readonly areDecoded: boolean;
}

/** A way to go on with a text. */
export interface Steps {
  /** The tokens behind a text whose cache is read, at most `left` of them. */
  next(text: readonly number[], left: number): Promise<NextTokens>;
  dispose(): void;
}

export interface StepOrder {
  readonly program: TextProgram;
  readonly cache: TextCache;
  readonly sampling: Sampling;
  readonly prompt: readonly number[];
  /** Tokens that were generated before. */
  readonly generated: readonly number[];
}

/** Draws tokens of one text, and keeps count of them on the device where penalties ask for it. */
export class TokenDrawer {
  readonly #order: StepOrder;
  #penalties: Penalties | undefined;

  constructor(order: StepOrder) {
    this.#order = order;
  }

  /** Begins to draw up to a chunk of tokens from a position on. */
  async begin(count: number, position: number, allowed?: Uint32Array): Promise<DeviceTensor> {
    const { cache, sampling } = this.#order;
    const penalties = await this.#held();
    return this.#counted(await cache.begin(count, { position, sampling, penalties, allowed }));
  }

  /** Begins to verify tokens that may come from a position on. */
  async verify(draft: readonly number[], position: number): Promise<DeviceTensor> {
    const { cache, sampling } = this.#order;
    const penalties = await this.#held();
    const options = { position, sampling, penalties, allowed: undefined };
    return this.#counted(await cache.verify(draft, options));
  }

  /** Frees what penalties go by. */
  dispose(): void {
    if (this.#penalties) disposePenalties(this.#penalties);
    this.#penalties = undefined;
  }

  async #held(): Promise<Penalties | undefined> {
    const { program, sampling, prompt, generated } = this.#order;
    if (!isPenalized(sampling)) return undefined;
    this.#penalties ??= await program.hold([{ bias: sampling.bias, prompt, generated }]);
    return this.#penalties;
  }

  #counted({ drawn, counts }: { drawn: DeviceTensor; counts: DeviceTensor }): DeviceTensor {
    if (this.#penalties) this.#penalties = { ...this.#penalties, counts };
    return drawn;
  }
}

/** A chunk whose tokens are being drawn and are not read back yet. */
interface Ahead {
  readonly drawn: DeviceTensor;
  readonly count: number;
}

/** The first tokens of a chunk of one text. */
export const firstOf = ([drawn]: readonly Drawn[], count: number): NextTokens => ({
  ids: drawn?.ids.slice(0, count) ?? [],
  logprobs: drawn?.logprobs.slice(0, count) ?? [],
  areDecoded: true,
});

/** A chunk after the other, each of which the device begins before the page reads the one before. */
export class PlainSteps implements Steps {
  readonly #drawer: TokenDrawer;
  readonly #limits: { readonly chunk: number; readonly context: number };
  #ahead: Ahead | undefined;

  constructor(drawer: TokenDrawer, limits: { readonly chunk: number; readonly context: number }) {
    this.#drawer = drawer;
    this.#limits = limits;
  }

  async next(text: readonly number[], left: number): Promise<NextTokens> {
    const { drawn, count } = this.#ahead ?? (await this.#begin(text.length, left));
    this.#ahead = undefined;
    const next = text.length + count;
    if (left > count && next < this.#limits.context) {
      this.#ahead = await this.#begin(next, left - count);
    }
    return firstOf(await readDrawn(drawn), count);
  }

  dispose(): void {
    this.#ahead?.drawn.dispose();
    this.#ahead = undefined;
  }

  async #begin(position: number, most: number): Promise<Ahead> {
    const { chunk, context } = this.#limits;
    // A text that is as long as the context asks for one more, which the cache refuses.
    const count = Math.max(1, Math.min(most, chunk, context - position));
    return { drawn: await this.#drawer.begin(count, position), count };
  }
}

/** Tokens of forced text that are read in one go at most. */
const MOST_FORCED = 64;

/** One token among those that a constraint allows; what it forces is not drawn. */
export class ConstrainedSteps implements Steps {
  readonly #drawer: TokenDrawer;
  readonly #cache: TextCache;
  readonly #constraint: TokenConstraint;
  readonly #allowed: Uint32Array;

  constructor(
    drawer: TokenDrawer,
    { cache, program: { vocabulary } }: StepOrder,
    constraint: TokenConstraint,
  ) {
    this.#drawer = drawer;
    this.#cache = cache;
    this.#constraint = constraint;
    this.#allowed = new Uint32Array(Math.ceil(vocabulary / WORD_BITS));
  }

  async next(text: readonly number[], left: number): Promise<NextTokens> {
    const constraint = this.#constraint;
    const forced = constraint.forced?.(Math.min(left, MOST_FORCED)) ?? [];
    if (forced.length > 0) {
      // The next step reads them in one go.
      for (const id of forced) constraint.accept(id);
      return { ids: forced, logprobs: [], areDecoded: false };
    }
    await this.#cache.read(text);
    const allowed = this.#allowed.slice();
    constraint.mask(allowed);
    if (allowed.every((word) => word === 0)) throw impossible(text.length);
    const drawn = await readDrawn(await this.#drawer.begin(1, text.length, allowed));
    const next = firstOf(drawn, 1);
    if (!constraint.accept(next.ids[0] ?? -1)) throw impossible(text.length);
    return next;
  }

  dispose(): void {}
}

function impossible(position: number): RuntimeError {
  return new RuntimeError({
    where: `text generation, position ${position}`,
    got: 'a constraint that no token of the model meets',
    expected: 'one that the vocabulary can spell',
  });
}
