import type { TextTokenizer } from '../text/load/remote-tokenizer.ts';

/** Which part of a text stays where it is too long. */
export type KeptPart = 'first' | 'last';

/**
 * The tokens of a text, `mostTokens` at most. What is too long is cut off the text: special tokens before and behind it
 * stay.
 */
export async function encodeAtMost(
  tokenizer: TextTokenizer,
  text: string,
  { mostTokens, kept = 'first' }: { readonly mostTokens: number; readonly kept?: KeptPart },
): Promise<number[]> {
  const tokens = await tokenizer.encode(text);
  if (tokens.length <= mostTokens) return tokens;
  const bare = await tokenizer.encode(text, { addSpecialTokens: false });
  const found = tokens.findIndex((_, i) => bare.every((id, k) => tokens[i + k] === id));
  const before = tokens.slice(0, Math.max(found, 0));
  const behind = tokens.slice(before.length + bare.length);
  const room = Math.max(0, mostTokens - before.length - behind.length);
  const part = kept === 'first' ? bare.slice(0, room) : bare.slice(bare.length - room);
  return [...before, ...part, ...behind].slice(0, mostTokens);
}
