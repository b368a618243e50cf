import { UsageError } from '../core/errors.ts';
import type { FinishReason, GeneratedToken } from './generation.ts';
import type { GuessCounts } from './speculative-steps.ts';
import type { TextCache } from './caches/text-cache.ts';

/** How much was done for a text. */
export interface Usage {
  /** Tokens of the prompt. */
  readonly promptTokens: number;
  /** Those of them that were not read, because a cache held them. */
  readonly cachedTokens: number;
  /** Tokens that were generated. */
  readonly completionTokens: number;
  /** Milliseconds until the first of them. */
  readonly firstTokenMs: number;
  /** Tokens a second after it. */
  readonly tokensPerSecond: number;
  /** Tokens that were guessed, with `speculate`. */
  readonly guessedTokens: number;
  /** Those of them that were right. */
  readonly rightGuesses: number;
}

interface Started {
  readonly cache: TextCache;
  /** Tokens of the prompt that it holds. */
  readonly cachedTokens: number;
  readonly tokens: AsyncGenerator<GeneratedToken, FinishReason>;
  readonly guesses: GuessCounts;
}

/** A text whose prompt is tokens. */
interface Prepared {
  readonly promptTokens: number;
  readonly start: () => Promise<Started>;
  /** A file of the text with tokens that were generated. */
  readonly save: (generated: readonly number[]) => Promise<Uint8Array>;
}

/** The parts of its model that a generation uses. */
interface GenerationSource {
  prepare(): Promise<Prepared>;
  /** Takes the cache of a generation back. */
  end(cache: TextCache): void;
  isEnd(id: number): boolean;
}

/** A text that is being generated. Iterate over it once: over pieces of text, or over its tokens. */
export class Generation implements AsyncIterable<string> {
  /** Why it ended; undefined until then. */
  finishReason: FinishReason | undefined;
  readonly #source: GenerationSource;
  readonly #generated: number[] = [];
  #prepared: Promise<Prepared> | undefined;
  #usage: Usage | undefined;
  #state: 'new' | 'running' | 'left' = 'new';

  /** @internal */
  constructor(source: GenerationSource) {
    this.#source = source;
  }

  /** Tokens of the prompt and of the answer; undefined until the generation ended. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /**
   * Resolves when the prompt is read as tokens, before anything is generated. Rejects, as iterating would, with UsageError for a prompt
   * that is too long or that the model's chat template refuses, and FormatError for a template that cannot be run.
   */
  async ready(): Promise<void> {
    await this.#prepare();
  }

  /** Tokens one by one, the one that ends the text among them. */
  async *tokens(): AsyncGenerator<GeneratedToken, void> {
    if (this.#state !== 'new') {
      const expected = 'one iteration; generate again for another text';
      throw new UsageError({ where: 'Generation', got: 'a second iteration', expected });
    }
    this.#state = 'running';
    const begin = performance.now();
    const { promptTokens, cache, cachedTokens, tokens, guesses } = await this.#start();
    let first: number | undefined;
    let count = 0;
    let hasFailed = false;
    try {
      for (let next = await tokens.next(); ; next = await tokens.next()) {
        if (next.done === true) {
          this.finishReason = next.value;
          return;
        }
        first ??= performance.now();
        const { id } = next.value;
        if (id >= 0) count++;
        // Whoever leaves the loop with this token has all of the text.
        if (this.#source.isEnd(id)) this.finishReason = 'stop';
        else if (id >= 0) this.#generated.push(id);
        yield next.value;
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      if (!hasFailed) this.finishReason ??= 'aborted';
      await tokens.return('aborted');
      this.#source.end(cache);
      this.#state = 'left';
      const since = performance.now() - (first ?? begin);
      this.#usage = {
        promptTokens,
        cachedTokens,
        completionTokens: count,
        firstTokenMs: (first ?? performance.now()) - begin,
        tokensPerSecond: count > 1 && since > 0 ? ((count - 1) * 1000) / since : 0,
        guessedTokens: guesses.guessed,
        rightGuesses: guesses.right,
      };
    }
  }

  /**
   * A generation whose loop was left before its end, or whose signal aborted, as a file: `TextModel.resume` goes on with it, in another page or on another
   * device too. Keys and values of all its tokens are in it. Rejects with UsageError for one that runs or has ended.
   */
  async save(): Promise<Uint8Array> {
    const isEnded = this.finishReason !== undefined && this.finishReason !== 'aborted';
    if (isEnded || this.#state === 'running') {
      throw new UsageError({
        where: 'Generation.save',
        got: isEnded ? 'a generation that has ended' : 'a generation that runs',
        expected: 'one whose loop was left before its end',
        remedy: isEnded
          ? 'Call generate with its text to go on.'
          : 'Leave the loop with break, or abort its signal, before.',
      });
    }
    return await (await this.#prepare()).save(this.#generated);
  }

  async #start(): Promise<Started & Pick<Prepared, 'promptTokens'>> {
    try {
      const { promptTokens, start } = await this.#prepare();
      return { promptTokens, ...(await start()) };
    } catch (error) {
      this.#state = 'left';
      throw error;
    }
  }

  #prepare(): Promise<Prepared> {
    return (this.#prepared ??= this.#source.prepare());
  }

  /** Pieces of text, none of them empty. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    for await (const { text } of this.tokens()) if (text !== '') yield text;
  }

  /** Generates to the end, and gives the whole text; where a signal aborts, the text so far. */
  async text(): Promise<string> {
    let all = '';
    for await (const piece of this) all += piece;
    return all;
  }
}
