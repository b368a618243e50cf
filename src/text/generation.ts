import { RuntimeError, UsageError } from '../core/errors.ts';
import type { TextCache } from './caches/text-cache.ts';
import type { Sampling } from './sampling.ts';
import { type Guesser, type GuessCounts, SpeculativeSteps } from './speculative-steps.ts';
import {
  ConstrainedSteps,
  PlainSteps,
  type StepOrder,
  type Steps,
  TokenDrawer,
  type TokenConstraint,
} from './steps.ts';
import type { TextStream } from './load/remote-tokenizer.ts';

/**
 * Why a text ended: at a token or a string that ends it, because it is as long as was asked for, or because its loop was left or
 * its signal aborted.
 */
export type FinishReason = 'stop' | 'length' | 'aborted';

/** A token that was generated. */
export interface GeneratedToken {
  /** Its number in the vocabulary; -1 for text that is left at the end. */
  readonly id: number;
  /** The logarithm of the probability that the model gave it. */
  readonly logprob: number;
  /** The text that it completes, perhaps none. */
  readonly text: string;
}

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

interface GenerationOrder extends StepOrder {
  readonly maxTokens: number;
  readonly sampling: Sampling;
  /** Tokens that end a text. */
  readonly ends: ReadonlySet<number>;
  readonly decoder: TextStream;
  readonly stops: StopStrings;
  readonly constraint: TokenConstraint | undefined;
  readonly guesser: Guesser | undefined;
  readonly guesses: GuessCounts;
  readonly signal: AbortSignal | undefined;
  /** Shortens a text that has reached the context length, to go on with; undefined: an error. */
  readonly slide: ((tokens: readonly number[]) => readonly number[]) | undefined;
  readonly context: number;
}

/** The device is so many chunks ahead of the page at most. */
const CHUNKS_AHEAD = 2;

/** Generates tokens of a text one after the other; returns why it ended. */
export async function* generateTokens(
  order: GenerationOrder,
): AsyncGenerator<GeneratedToken, FinishReason> {
  const { cache, maxTokens, signal, context, slide } = order;
  if (signal?.aborted) return 'aborted';
  // Of a text that was saved behind what it stops at.
  if (order.stops.isStopped) return 'stop';
  let text = [...order.prompt, ...order.generated];
  if (slide) {
    while (text.length > context) text = [...slide(text)];
  }
  const drawer = new TokenDrawer(order);
  const steps = stepsOf(order, drawer);
  let generated = order.generated.length;
  try {
    const whole = order.prompt.length + maxTokens;
    // As many as the model sees were not asked for: then it grows as the text does.
    if (whole < context) cache.reserve(whole + CHUNKS_AHEAD * order.program.chunk);
    await cache.read(text);
    while (generated < maxTokens) {
      if (signal?.aborted) return 'aborted';
      if (text.length >= context && slide !== undefined) {
        text = [...slide(text)];
        await cache.read(text);
      }
      const { ids, logprobs, areDecoded } = await steps.next(text, maxTokens - generated);
      const wrong = logprobs.findIndex(Number.isNaN);
      const endsAt = ids.findIndex((id) => order.ends.has(id));
      const count = [endsAt, wrong].reduce((a, at) => (at < 0 ? a : Math.min(a, at)), ids.length);
      const isLast = endsAt === count;
      const shown = await order.decoder.push(ids.slice(0, count), isLast);
      for (let i = 0; i < ids.length; i++) {
        const id = ids[i] ?? 0;
        if (i === wrong) throw noNumbers(text.length);
        const isEnd = i === endsAt;
        generated++;
        if (!isEnd) {
          text.push(id);
          if (areDecoded) cache.hold([id]);
        }
        const passed = order.stops.push(shown[i] ?? '');
        const isStopped = isEnd || order.stops.isStopped;
        const rest = isEnd && !order.stops.isStopped ? order.stops.end() : '';
        yield { id, logprob: logprobs[i] ?? 0, text: passed + rest };
        if (isStopped) return 'stop';
      }
    }
    const rest = order.stops.push(await order.decoder.end()) + order.stops.end();
    if (rest !== '') yield { id: -1, logprob: 0, text: rest };
    return 'length';
  } catch (error) {
    // The device may have failed at whatever it was told before: nobody knows what the cache holds.
    cache.dispose();
    throw error;
  } finally {
    steps.dispose();
    drawer.dispose();
    // The device may hold more tokens than were taken: its logits are those of none of ours.
    cache.invalidate();
  }
}

/** The error of a model whose logits are NaN: every token is as good as any other then. */
export function noNumbers(position: number): RuntimeError {
  return new RuntimeError({
    where: `text generation, position ${position}`,
    got: 'logits that are no numbers (NaN)',
    expected: 'a model whose values stay in range',
    remedy: 'session.verify names the first value that departs from float32.',
  });
}

function stepsOf(order: GenerationOrder, drawer: TokenDrawer): Steps {
  const { constraint, guesser, guesses, context, program } = order;
  if (constraint) return new ConstrainedSteps(drawer, order, constraint);
  const limits = { chunk: program.chunk, guesses: program.guesses, context };
  if (guesser) return new SpeculativeSteps(drawer, guesser, limits, guesses);
  return new PlainSteps(drawer, limits);
}

/** Lets text pass until one of some strings comes; what may be the begin of one waits. */
export class StopStrings {
  readonly #strings: readonly string[];
  #held = '';
  /** True once one of the strings was found. */
  isStopped = false;

  constructor(strings: readonly string[]) {
    this.#strings = strings.filter((text) => text !== '');
  }

  /** The text that may be shown now. */
  push(text: string): string {
    if (this.isStopped) return '';
    const all = this.#held + text;
    const places = this.#strings.map((stop) => all.indexOf(stop)).filter((at) => at >= 0);
    if (places.length > 0) {
      this.isStopped = true;
      this.#held = '';
      return all.slice(0, Math.min(...places));
    }
    const held = Math.max(0, ...this.#strings.map((stop) => beginAtEnd(all, stop)));
    this.#held = all.slice(all.length - held);
    return all.slice(0, all.length - held);
  }

  /** The text that was held back as the possible begin of a stop string. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** How much of the end of a text is the begin of another one. */
function beginAtEnd(text: string, other: string): number {
  for (let length = Math.min(text.length, other.length - 1); length > 0; length--) {
    if (other.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
