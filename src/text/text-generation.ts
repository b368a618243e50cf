import { UsageError } from '../core/errors.ts';
import type { FinishReason, GeneratedToken } from './generation.ts';
import type { TextCache } from './text-cache.ts';

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
}

interface Started {
  readonly cache: TextCache;
  /** Tokens of the prompt that it holds. */
  readonly cachedTokens: number;
  readonly tokens: AsyncGenerator<GeneratedToken, FinishReason>;
}

/** A text that is being generated. Iterate over it once: over pieces of text, or over its tokens. */
export class Generation implements AsyncIterable<string> {
  /** Why it ended; undefined until then. */
  finishReason: FinishReason | undefined;
  readonly #promptTokens: number;
  readonly #start: () => Started;
  readonly #end: (cache: TextCache) => void;
  #usage: Usage | undefined;
  #isStarted = false;

  /** @internal */
  constructor(promptTokens: number, start: () => Started, end: (cache: TextCache) => void) {
    this.#promptTokens = promptTokens;
    this.#start = start;
    this.#end = end;
  }

  /** What was done; undefined until it ended. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** Tokens one by one, the one that ends the text among them. */
  async *tokens(): AsyncGenerator<GeneratedToken, void> {
    if (this.#isStarted) {
      const expected = 'one iteration; generate again for another text';
      throw new UsageError({ where: 'Generation', got: 'a second iteration', expected });
    }
    this.#isStarted = true;
    const begin = performance.now();
    const { cache, cachedTokens, tokens } = this.#start();
    let first: number | undefined;
    let count = 0;
    try {
      for (let next = await tokens.next(); ; next = await tokens.next()) {
        if (next.done === true) {
          this.finishReason = next.value;
          return;
        }
        first ??= performance.now();
        if (next.value.id >= 0) count++;
        yield next.value;
      }
    } finally {
      await tokens.return('stop');
      this.#end(cache);
      const since = performance.now() - (first ?? begin);
      this.#usage = {
        promptTokens: this.#promptTokens,
        cachedTokens,
        completionTokens: count,
        firstTokenMs: (first ?? performance.now()) - begin,
        tokensPerSecond: count > 1 && since > 0 ? ((count - 1) * 1000) / since : 0,
      };
    }
  }

  /** Pieces of text, none of them empty. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    for await (const { text } of this.tokens()) if (text !== '') yield text;
  }

  /** The whole text. */
  async text(): Promise<string> {
    let all = '';
    for await (const piece of this) all += piece;
    return all;
  }
}
