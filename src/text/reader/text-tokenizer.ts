import type { TokenizerFiles } from './bounded-tokenizer.ts';

/** A tokenizer of this thread. */
export interface SyncTokenizer {
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): number[];
  decode(ids: readonly number[]): string;
  idOf(token: string): number | undefined;
}

/** The tokenizer of @huggingface/tokenizers, which is loaded with the first model that needs it. */
export async function openTokenizer(files: TokenizerFiles): Promise<SyncTokenizer> {
  const { BoundedTokenizer } = await import('./bounded-tokenizer.ts');
  const own = new BoundedTokenizer(files);
  return {
    encode: (text, { addSpecialTokens = true } = {}) => own.encode(text, addSpecialTokens),
    decode: (ids) => (ids.length === 0 ? '' : own.decode(ids)),
    idOf: (token) => own.idOf(token),
  };
}
