import type { Sampling } from './sampling.ts';
import { firstOf, type NextTokens, type Steps, type TokenDrawer } from './steps.ts';
import type { TextCache } from './caches/text-cache.ts';
import { readDrawn } from './text-program.ts';
import { OPTIONS } from '../core/text-layout.ts';

/** Guesses tokens that may come behind a text. */
export interface Guesser {
  /** Returns at most `most` tokens; none where it has no idea. */
  guess(text: readonly number[], most: number): Promise<readonly number[]>;
  dispose(): void;
}

/** A model that guesses for another one: a `TextModel`. */
export interface DraftModel {
  readonly vocabularySize: number;
  /** @internal What guesses tokens behind a text, drawn as the other model draws them. */
  guesser(text: readonly number[], sampling: Sampling): Guesser;
}

/** How many guesses were made, and how many were right. */
export interface GuessCounts {
  guessed: number;
  right: number;
}

interface Limits {
  /** Tokens that are verified at a time. */
  readonly guesses: number;
  readonly chunk: number;
  readonly context: number;
}

/**
 * Tokens that somebody guesses are verified together. The draw at a position follows from the seed,
 * so the text is the same whatever is guessed.
 */
export class SpeculativeSteps implements Steps {
  readonly #drawer: TokenDrawer;
  readonly #guesser: Guesser;
  readonly #limits: Limits;
  readonly #counts: GuessCounts;
  /** The token behind the text, where a draw has told it. */
  #known: number | undefined;

  constructor(drawer: TokenDrawer, guesser: Guesser, limits: Limits, counts: GuessCounts) {
    this.#drawer = drawer;
    this.#guesser = guesser;
    this.#limits = limits;
    this.#counts = counts;
  }

  async next(text: readonly number[], left: number): Promise<NextTokens> {
    const { guesses, chunk, context } = this.#limits;
    const room = context - text.length;
    const known = this.#known === undefined ? [] : [this.#known];
    this.#known = undefined;
    const most = Math.min(guesses - known.length, left - 1);
    const guessed =
      room > guesses && most > 0 ? await this.#guesser.guess([...text, ...known], most) : [];
    if (guessed.length === 0) {
      const count = Math.max(1, Math.min(left, chunk, room));
      return firstOf(await readDrawn(await this.#drawer.begin(count, text.length)), count);
    }
    const draft = [...known, ...guessed];
    const { ids, ...drawn } = firstOf(
      await readDrawn(await this.#drawer.verify(draft, text.length)),
      chunk,
    );
    let right = 1;
    // `verify` pads the draft with token 0.
    while (right < guesses && (draft[right] ?? 0) === ids[right]) right++;
    this.#counts.guessed += guessed.length;
    const isFirstWrong = draft[0] !== ids[0];
    this.#counts.right += Math.min(right, draft.length) - known.length - Number(isFirstWrong);
    if (right < left) this.#known = ids[right];
    const count = Math.min(right, left);
    return { ...drawn, ids: ids.slice(0, count), logprobs: drawn.logprobs.slice(0, count) };
  }

  dispose(): void {
    this.#guesser.dispose();
  }
}

/** Tokens that are looked for, and how many of them at least. */
const [LONGEST, SHORTEST] = [4, 2];

/** Guesses that a text goes on as it did where its last tokens stood before (Saxena 2023). */
export const PROMPT_GUESSER: Guesser = {
  guess(text, most) {
    for (let length = LONGEST; length >= SHORTEST; length--) {
      const from = text.length - length;
      for (let at = from - 1; at >= 0; at--) {
        const isSame = (i: number): boolean => text[at + i] === text[from + i];
        if (!Array.from({ length }, (_, i) => isSame(i)).every(Boolean)) continue;
        // A match close to the end goes on with the guesses themselves, so they repeat.
        const behind = [...text];
        for (let i = 0; i < most; i++) behind.push(behind[at + length + i] ?? 0);
        return Promise.resolve(behind.slice(text.length));
      }
    }
    return Promise.resolve([]);
  },
  dispose() {},
};

/** Guesses what a smaller model with the same tokens says, by the same random numbers. */
export class DraftGuesser implements Guesser {
  readonly #cache: TextCache;
  readonly #sampling: Sampling;
  readonly #limits: { readonly chunk: number; readonly context: number };
  readonly #end: () => void;

  /** `end` is called when the cache is not needed any more. */
  constructor(
    cache: TextCache,
    sampling: Sampling,
    limits: { readonly chunk: number; readonly context: number },
    end: () => void,
  ) {
    this.#cache = cache;
    // Penalties would need counts of their own; without them a guess is wrong a little more often.
    const options = sampling.options & ~OPTIONS.penalties;
    this.#sampling = { ...sampling, options };
    this.#limits = limits;
    this.#end = end;
  }

  async guess(text: readonly number[], most: number): Promise<readonly number[]> {
    const { chunk, context } = this.#limits;
    const count = Math.min(most, chunk);
    if (text.length + count > context) return [];
    try {
      await this.#cache.read(text);
      const { drawn } = await this.#cache.begin(count, {
        position: text.length,
        sampling: this.#sampling,
        penalties: undefined,
        allowed: undefined,
      });
      const { ids } = firstOf(await readDrawn(drawn), count);
      this.#cache.hold(ids);
      return ids;
    } catch (error) {
      // As in generateTokens.
      this.#cache.dispose();
      throw error;
    }
  }

  dispose(): void {
    this.#cache.invalidate();
    this.#end();
  }
}
