import { FormatError } from '../../../../core/errors.ts';
import type { GgufMetadata } from '../gguf-metadata.ts';

/** `tokenizer.ggml.token_type`, as far as the types differ here. */
export const TOKEN_TYPES = { normal: 1, unknown: 2, control: 3, userDefined: 4 } as const;

/** The tokens of a GGUF file, by id. */
export interface GgufVocabulary {
  readonly tokens: readonly string[];
  /** The type of each token: one of {@link TOKEN_TYPES}, or another number. */
  readonly types: ArrayLike<number>;
  /**
   * The score of each token: the higher, the sooner it is put together. All 0 in files that have
   * none.
   */
  readonly scores: ArrayLike<number>;
}

/** Reads the tokens. Throws FormatError where there are none, one is there twice, or an array is shorter than they are. */
export function readGgufVocabulary(metadata: GgufMetadata): GgufVocabulary {
  const key = 'tokenizer.ggml.tokens';
  const given = metadata.strings(key);
  if (given === undefined || given.length === 0) {
    const expected = 'the tokens of the vocabulary';
    throw new FormatError({ where: `${metadata.where}, ${key}`, got: 'no token', expected });
  }
  // As llama.cpp calls those that have no text.
  const tokens = given.map((token, id) => (token === '' ? `[EMPTY_${id}]` : token));
  const seen = new Map<string, number>();
  for (const [id, token] of tokens.entries()) {
    const first = seen.get(token);
    if (first !== undefined) {
      throw new FormatError({
        where: `${metadata.where}, ${key}`,
        got: `${JSON.stringify(token)} as token ${first} and as token ${id}`,
        expected: 'each token once',
        remedy: 'Convert the model again with a current llama.cpp.',
      });
    }
    seen.set(token, id);
  }
  const numbers = (name: string, otherwise: number): ArrayLike<number> => {
    const values = metadata.numbers(`tokenizer.ggml.${name}`);
    if (values === undefined) return new Float64Array(tokens.length).fill(otherwise);
    if (values.length >= tokens.length) return values;
    throw new FormatError({
      where: `${metadata.where}, tokenizer.ggml.${name}`,
      got: `${values.length} elements`,
      expected: `one for each of the ${tokens.length} tokens`,
    });
  };
  return { tokens, types: numbers('token_type', TOKEN_TYPES.normal), scores: numbers('scores', 0) };
}

/** Special tokens by what they are for; undefined for those that a model has not. */
export interface GgufSpecialIds {
  readonly bos: number | undefined;
  readonly eos: number | undefined;
  readonly eot: number | undefined;
  readonly eom: number | undefined;
  readonly unknown: number | undefined;
  readonly padding: number | undefined;
}

/** Reads their ids. Throws FormatError for one that is no token. */
export function readSpecialIds(
  metadata: GgufMetadata,
  vocabulary: GgufVocabulary,
  defaults: Partial<GgufSpecialIds> = {},
): GgufSpecialIds {
  const id = (name: string, otherwise?: number): number | undefined => {
    const key = `tokenizer.ggml.${name}_token_id`;
    const given = metadata.number(key);
    const count = vocabulary.tokens.length;
    if (given === undefined)
      return otherwise !== undefined && otherwise < count ? otherwise : undefined;
    if (Number.isInteger(given) && given >= 0 && given < count) return given;
    // Converters write "none" as -1, which is 2^32 - 1 there.
    if (given === 2 ** 32 - 1 || given === -1) return undefined;
    const expected = `the id of a token, 0 to ${count - 1}`;
    throw new FormatError({ where: `${metadata.where}, ${key}`, got: String(given), expected });
  };
  return {
    bos: id('bos', defaults.bos),
    eos: id('eos', defaults.eos),
    eot: id('eot'),
    eom: id('eom'),
    unknown: id('unknown', defaults.unknown),
    padding: id('padding'),
  };
}
