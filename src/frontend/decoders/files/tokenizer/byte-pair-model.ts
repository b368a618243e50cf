import type { JsonRecord } from '../json-record.ts';

/** The `model` of a `tokenizer.json` that joins pairs, the first ones before later ones. */
export function bytePairModel(
  tokens: readonly string[],
  merges: readonly (readonly [string, string])[],
): JsonRecord {
  return {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    merges,
  };
}
