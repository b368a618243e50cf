import {
  byteLevelVocabulary,
  gemmaVocabulary,
  llamaVocabulary,
  marksOf,
  phiVocabulary,
  type TokenizerMetadata,
} from '../../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import { mixedStrings } from '../../../../src/frontend/decoders/files/testing/mixed-strings.ts';
import { type GgufHead, readGguf } from '../../../../src/frontend/decoders/files/gguf.ts';
import { ggufTokenizer } from '../../../../src/frontend/decoders/files/tokenizer/gguf-tokenizer.ts';
import {
  ggufOf,
  randomDecoder,
} from '../../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { openTokenizer } from '../../../../src/frontend/decoders/reader/text-reader.ts';
import type { Checks } from '../../../show/checks.ts';
import type { Peer } from './open-peer.ts';

const SIZE = 1500;
const STRINGS = 10_000;
/** Of pre-tokenizers that share most of their patterns with those above. */
const FEWER_STRINGS = 1000;

const MAIN: Readonly<Record<string, TokenizerMetadata>> = {
  'llama (SentencePiece)': llamaVocabulary(SIZE),
  'gemma (SentencePiece)': gemmaVocabulary(SIZE),
  'phi 3 (SentencePiece)': phiVocabulary(SIZE),
  'gpt-2': byteLevelVocabulary('gpt-2', SIZE),
  'llama-bpe': byteLevelVocabulary('llama-bpe', SIZE),
  qwen2: byteLevelVocabulary('qwen2', SIZE),
};

const OTHERS = ['smollm', 'dbrx', 'default', 'falcon', 'seed-coder', 'bloom', 'viking'];

/**
 * llama.cpp takes only blanks of ASCII from behind the tokens of phi 3, where Hugging Face's tokenizer takes all that are white space in
 * Unicode: strings that have others there are left out.
 */
const OTHER_BLANK = /(<\|(assistant|system|end|user)\|>|<\/s>)[ \t-\r]*[^\S \t-\r]/u;

/** Ids of strings beside those of llama.cpp. */
export async function compareTokens(checks: Checks, peer: Peer): Promise<void> {
  checks.section(
    'Ids of strings of emoji, mixed scripts, blanks and special tokens equal those of wllama',
  );
  for (const [name, metadata] of Object.entries(MAIN)) {
    await compare(checks, peer, { name, metadata, count: STRINGS });
  }
  for (const pre of OTHERS) {
    const metadata = byteLevelVocabulary(pre, SIZE);
    await compare(checks, peer, { name: pre, metadata, count: FEWER_STRINGS });
  }
}

async function compare(
  checks: Checks,
  peer: Peer,
  { name, metadata, count }: { name: string; metadata: TokenizerMetadata; count: number },
): Promise<void> {
  const tokens = metadata['tokenizer.ggml.tokens'] as readonly string[];
  const file = ggufOf(randomDecoder(decoderConfig(tokens.length), 1), {}, [], metadata);
  const { tokenizer, tokenizerConfig } = ggufTokenizer((readGguf(file) as GgufHead).metadata);
  const own = await openTokenizer({ tokenizer, config: tokenizerConfig });
  const all = mixedStrings(count, { seed: 5, tokens: marksOf(metadata) });
  const isLeftOut = (text: string): boolean => name.startsWith('phi') && OTHER_BLANK.test(text);
  const strings = all.filter((text) => !isLeftOut(text));
  const expected = await peer.tokenize(file, strings);
  const wrong = strings.flatMap((text, i) => {
    const ids = own.encode(text, { addSpecialTokens: false });
    const isEqual =
      ids.length === expected[i]?.length && ids.every((id, at) => id === expected[i]?.[at]);
    return isEqual ? [] : [{ text, ids, expected: expected[i] ?? [] }];
  });
  const left = all.length - strings.length;
  checks.check(
    wrong.length === 0,
    `${name.padEnd(22)} ${strings.length} strings, ${wrong.length} differ` +
      (left > 0
        ? `; ${left} left out, with blanks beyond ASCII behind a token that takes them`
        : ''),
  );
  const spelt = (ids: readonly number[]): string => ids.map((id) => tokens[id]).join(' ');
  for (const { text, ids, expected: theirs } of wrong.slice(0, 3)) {
    checks.note(`${JSON.stringify(text)}: ${spelt(ids)}; wllama: ${spelt(theirs)}`);
  }
}

/** The least decoder that a file must have. */
const decoderConfig = (tokens: number) => ({
  model_type: 'llama',
  vocab_size: tokens,
  hidden_size: 32,
  intermediate_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 16,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  max_position_embeddings: 512,
  tie_word_embeddings: true,
});
