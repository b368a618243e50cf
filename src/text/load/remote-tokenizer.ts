import { checkOptions, listOf, requireKind } from '../../core/check-options.ts';
import type { DecodeNext } from '../text-stream.ts';
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

/** A tokenizer that Weft's own parts use. */
export interface RemoteTokenizer extends TextTokenizer {
  readonly decodeNext: DecodeNext;
}

/** The tokenizer that a reader has opened. */
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
    decodeNext: (...given) => reader.ask('decodeNext', given),
  };
}
