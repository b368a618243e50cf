import { checkOptions, listOf, requireKind } from '../core/check-options.ts';
import { FormatError } from '../core/errors.ts';

/** Turns text into tokens and back, as a model's `tokenizer.json` says. */
export interface TextTokenizer {
  /** The ids of a text. Special tokens that the model wants around it come along if asked for. */
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): number[];
  /** The text of ids, without special tokens. */
  decode(ids: readonly number[]): string;
  /** The id of a token by its name, such as `</s>`. */
  idOf(token: string): number | undefined;
}

/** The parsed files that a tokenizer is made from: `tokenizer.json` and `tokenizer_config.json`. */
export interface TokenizerFiles {
  readonly tokenizer: object;
  readonly config: object;
}

const DECODING = { skip_special_tokens: true, clean_up_tokenization_spaces: false };

/** The tokenizer of @huggingface/tokenizers, which is loaded with the first model that needs it. */
export async function openTokenizer({ tokenizer, config }: TokenizerFiles): Promise<TextTokenizer> {
  const { BPE, Tokenizer } = await import('@huggingface/tokenizers');
  let own: InstanceType<typeof Tokenizer>;
  try {
    own = new Tokenizer(tokenizer, config);
    const sizes = rankSizes(tokenizer);
    if (sizes !== undefined && own.model instanceof BPE) shareRanks(own.model.bpe_ranks, sizes);
  } catch (cause) {
    const got = cause instanceof Error ? cause.message : String(cause);
    const expected = 'a tokenizer that @huggingface/tokenizers reads';
    throw new FormatError({ where: 'tokenizer.json', got, expected }, { cause });
  }
  return {
    encode(text, options = {}) {
      requireKind('encode', 'text', ['the text', text]);
      checkOptions('encode', options, { addSpecialTokens: 'boolean' });
      return own.encode(text, { add_special_tokens: options.addSpecialTokens ?? true }).ids;
    },
    decode(ids) {
      requireKind('decode', listOf('count from 0'), ['ids that are', ids]);
      return ids.length === 0 ? '' : own.decode([...ids], DECODING);
    },
    idOf: (token) => own.token_to_id(token),
  };
}

/** `model.rank_sizes`, which tokenizers have that were made of GGUF. */
function rankSizes(tokenizer: object): readonly number[] | undefined {
  const { model } = tokenizer as { readonly model?: { readonly rank_sizes?: readonly number[] } };
  return model?.rank_sizes;
}

/** Gives so many pairs in a row one rank; of those the package joins the leftmost first. */
function shareRanks(ranks: Map<string, number>, sizes: readonly number[]): void {
  // They stand there in the order of the file, and stay where they are.
  const pairs = ranks.keys();
  for (const [rank, size] of sizes.entries()) {
    for (let i = 0; i < size; i++) {
      const pair = pairs.next();
      if (pair.done !== true) ranks.set(pair.value, rank);
    }
  }
}
