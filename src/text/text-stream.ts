import type { DecodedNext, StreamState } from '../frontend/decoders/reader/stream-decoder.ts';

/** Asks for the text that tokens complete, a piece for each; with `isEnd`, one more with what is left. */
export type DecodeNext = (
  state: StreamState,
  ids: readonly number[],
  isEnd: boolean,
) => Promise<DecodedNext>;

/** Text of tokens as they come, in whole characters, from where the tokenizer is. */
export class TextStream {
  readonly #decode: DecodeNext;
  #state: StreamState;

  /** Begins behind the tokens `before`, whose text was given already. */
  constructor(decode: DecodeNext, before: readonly number[] = []) {
    this.#decode = decode;
    this.#state = { before, waiting: [] };
  }

  /** The text that each token completes; with `isEnd`, and last what is left, with cut characters as they are. */
  async push(ids: readonly number[], isEnd = false): Promise<readonly string[]> {
    const { texts, state } = await this.#decode(this.#state, ids, isEnd);
    this.#state = state;
    return texts;
  }

  /** What is left. */
  async end(): Promise<string> {
    const [rest = ''] = await this.push([], true);
    return rest;
  }
}
