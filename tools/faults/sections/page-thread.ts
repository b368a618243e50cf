import type { TextPage } from '../../../e2e/pages/text.ts';
import {
  ggufOf,
  randomDecoder,
} from '../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { byteLevelVocabulary } from '../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import { openPages } from '../../../scripts/open-pages.ts';
import type { Row } from './row.ts';

declare const weftText: TextPage;

const TOKENS = 152_000;
const MAX_TASK_MS = 50;

/** A model of one layer with a vocabulary as Qwen has it. */
function largeVocabulary(): Uint8Array {
  const vocabulary = byteLevelVocabulary('qwen2', TOKENS);
  const tokens = vocabulary['tokenizer.ggml.tokens'] as readonly string[];
  const config = {
    model_type: 'llama',
    vocab_size: tokens.length,
    hidden_size: 32,
    intermediate_size: 32,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    head_dim: 32,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    max_position_embeddings: 256,
    tie_word_embeddings: true,
  };
  return ggufOf(randomDecoder(config, 9), {}, [], vocabulary);
}

/** The longest task of a page while the tokenizer of a large vocabulary is made in Chromium, and used. */
export async function pageThread(): Promise<readonly Row[]> {
  const pages = await openPages({ only: ['e2e/pages/text.html'] });
  try {
    const page = await pages.open('e2e/pages/text.html');
    const body = Buffer.from(largeVocabulary());
    await page.route('**/large.gguf', (route) => route.fulfill({ body }));
    const seen = await page.evaluate(() => weftText.longestTask('/large.gguf', { cache: false }));
    return [
      {
        title: `Chromium: a vocabulary of ${TOKENS} tokens`,
        wanted: `no task of the page over ${MAX_TASK_MS} ms`,
        got: `${seen.longestMs.toFixed(0)} ms in a load of ${seen.loadMs.toFixed(0)} ms`,
        ok: seen.longestMs <= MAX_TASK_MS && seen.isSame,
      },
    ];
  } finally {
    await pages.close();
  }
}
