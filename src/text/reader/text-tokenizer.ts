import { describe } from '../../core/check-options.ts';
import { FormatError } from '../../core/errors.ts';

/** A tokenizer of this thread. */
export interface SyncTokenizer {
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): number[];
  decode(ids: readonly number[]): string;
  idOf(token: string): number | undefined;
}

/** The parsed files that a tokenizer is made from: `tokenizer.json` and `tokenizer_config.json`. */
export interface TokenizerFiles {
  readonly tokenizer: object;
  readonly config: object;
}

const DECODING = { skip_special_tokens: true, clean_up_tokenization_spaces: false };

/** The tokenizer of @huggingface/tokenizers, which is loaded with the first model that needs it. */
export async function openTokenizer({ tokenizer, config }: TokenizerFiles): Promise<SyncTokenizer> {
  const { BPE, Tokenizer } = await import('@huggingface/tokenizers');
  const own = readable(() => {
    requireIds(tokenizer);
    const made = new Tokenizer(tokenizer, config);
    const sizes = rankSizes(tokenizer);
    if (sizes !== undefined && made.model instanceof BPE) shareRanks(made.model.bpe_ranks, sizes);
    return made;
  });
  return {
    encode(text, options = {}) {
      const { addSpecialTokens = true } = options;
      return readable(() => {
        const { ids } = own.encode(text, { add_special_tokens: addSpecialTokens });
        if (!ids.every(isId)) throw new Error(`a token without an id in ${describe(text)}`);
        return ids;
      });
    },
    decode(ids) {
      return ids.length === 0 ? '' : readable(() => own.decode([...ids], DECODING));
    },
    idOf: (token) => own.token_to_id(token),
  };
}

/** What the package makes of the file, which may be damaged. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const got = cause instanceof Error ? cause.message : String(cause);
    const expected = 'a tokenizer that @huggingface/tokenizers reads';
    throw new FormatError({ where: 'tokenizer.json', got, expected }, { cause });
  }
}

const isId = (id: unknown): boolean => Number.isSafeInteger(id) && Number(id) >= 0;

/** The ids that the file gives to its tokens. Throws Error for one that is none. */
function requireIds(tokenizer: object): void {
  const { model, added_tokens: added } = tokenizer as {
    readonly model?: { readonly vocab?: unknown };
    readonly added_tokens?: unknown;
  };
  // In a list the place is the id.
  const vocab = Array.isArray(model?.vocab) ? {} : Object(model?.vocab);
  const tokens = Array.isArray(added) ? (added as readonly unknown[]) : [];
  const own = tokens.map((token): unknown => (Object(token) as { readonly id?: unknown }).id);
  for (const id of [...Object.values(vocab as object), ...own]) {
    if (!isId(id)) throw new Error(`the id ${describe(id)}, which is no integer from 0 up`);
  }
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
      if (pair.done === true) return;
      ranks.set(pair.value, rank);
    }
  }
}
