import { checkOptions, listOf, requireKind } from '../../core/check-options.ts';
import type { DecodedNext, StreamState } from '../../frontend/decoders/reader/stream-decoder.ts';
import type { OpenReader } from './open-reader.ts';

/** Turns text into tokens and back, as a model's `tokenizer.json` says, in a worker of its own. */
export interface TextTokenizer {
  /** The ids of a text. Special tokens that the model wants around it come along unless they are not wanted. */
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): Promise<number[]>;
  /** The text of ids, without special tokens. */
  decode(ids: readonly number[]): Promise<string>;
  /** The id of a token by its name, such as `</s>`. */
  idOf(token: string): Promise<number | undefined>;
}

/** Asks for the text that tokens complete, a piece for each; with `isEnd`, one more with what is left. */
type DecodeNext = (
  state: StreamState,
  ids: readonly number[],
  isEnd: boolean,
) => Promise<DecodedNext>;

/** A tokenizer that Weft's own parts use. */
export interface RemoteTokenizer extends TextTokenizer {
  readonly decodeNext: DecodeNext;
}

export function remoteTokenizer(reader: OpenReader): RemoteTokenizer {
  return {
    async encode(text, options = {}) {
      requireKind('encode', 'text', ['the text', text]);
      checkOptions('encode', options, { addSpecialTokens: 'boolean' });
      const { addSpecialTokens = true } = options;
      return reader.ask('encode', [text, addSpecialTokens]);
    },
    async decode(ids) {
      requireKind('decode', listOf('count from 0'), ['ids that are', ids]);
      return reader.ask('decode', [[...ids]]);
    },
    async idOf(token) {
      requireKind('idOf', 'text', ['the token', token]);
      return reader.ask('idOf', [token]);
    },
    decodeNext: (...args) => reader.ask('decodeNext', args),
  };
}

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
