import type { GgufSpecialIds, GgufVocabulary } from './gguf-vocabulary.ts';

/**
 * Tokens that end an answer, by name. GGUF names one or two of them by id, models have more, so llama.cpp goes by their text
 * as well (src/llama-vocab.cpp, `special_eog_ids`).
 */
const END_NAMES: ReadonlySet<string> = /* @__PURE__ */ new Set([
  '<|eot_id|>',
  '<|im_end|>',
  '<|end|>',
  '<|return|>',
  '<|call|>',
  '<end_of_turn>',
  '<|endoftext|>',
  '</s>',
  '<|eom_id|>',
  '<EOT>',
  '_<EOT>',
  '[EOT]',
  '[EOS]',
  '<|end_of_text|>',
  '<end_of_utterance>',
  '<eos>',
  '<｜end▁of▁sentence｜>',
]);

/** Tokens for filling in code, behind which nothing of an answer comes: padding, and the begin of another file. */
const FILE_END_NAMES: ReadonlySet<string> = /* @__PURE__ */ new Set([
  '<|fim_pad|>',
  '<fim-pad>',
  '<fim_pad>',
  '<PAD>',
  '[PAD]',
  '<|fim_repo|>',
  '<|repo_name|>',
  '<fim-repo>',
  '<REPO>',
  '<reponame>',
  '<|file_sep|>',
]);

/** Further tokens for filling in code. */
const FILLING_NAMES: ReadonlySet<string> = /* @__PURE__ */ new Set([
  '<|fim_prefix|>',
  '<fim-prefix>',
  '<fim_prefix>',
  '<｜fim▁begin｜>',
  '<PRE>',
  '▁<PRE>',
  '<|fim_suffix|>',
  '<fim-suffix>',
  '<fim_suffix>',
  '<｜fim▁hole｜>',
  '<SUF>',
  '▁<SUF>',
  '<|fim_middle|>',
  '<fim-middle>',
  '<fim_middle>',
  '<｜fim▁end｜>',
  '<MID>',
  '▁<MID>',
]);

/**
 * Returns true for the text of a known control token: some converters do not mark these as such.
 */
export function isControlName(token: string): boolean {
  return END_NAMES.has(token) || FILE_END_NAMES.has(token) || FILLING_NAMES.has(token);
}

/** Ids of all tokens that end an answer, in ascending order. */
export function endTokens({ tokens }: GgufVocabulary, ids: GgufSpecialIds): number[] {
  const ends = new Set([ids.eos, ids.eot, ids.eom].filter((id) => id !== undefined));
  for (const [id, token] of tokens.entries()) {
    if (END_NAMES.has(token) || FILE_END_NAMES.has(token)) ends.add(id);
  }
  return [...ends].toSorted((a, b) => a - b);
}
