import { expect, test } from 'vitest';
import { compile } from '../../../compiler/compile.ts';
import { generationModule } from '../generation-module.ts';
import { storyFolder } from '../../../text/testing/story-file.ts';
import { TextModel } from '../../../text/text-model.ts';
import { loadFrom } from './testing/decode-runner.ts';
import { randomDecoder } from './testing/decoder-files.ts';
import { fromGguf } from './testing/expect-reference.ts';
import { referenceLogits } from './testing/reference-decoder.ts';

/** A gemma 2 whose vocabulary is as large as that of the stories' tokenizer. */
const CONFIG = {
  model_type: 'gemma2',
  vocab_size: 512,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 256,
  tie_word_embeddings: true,
  sliding_window: 6,
  query_pre_attn_scalar: 8,
  attn_logit_softcapping: 4,
  final_logit_softcapping: 30,
};
const PROMPT = [5, 200, 311, 17, 54];
const COUNT = 20;

test('a GGUF file generates the tokens that plain loops over its weights find likeliest', async () => {
  const decoder = randomDecoder(CONFIG, 9, () => 'Q8_0');
  const { file, bytes } = fromGguf(decoder);
  const executable = compile(generationModule(await loadFrom(file, bytes)), { verify: true });
  const read = storyFolder({ 'model.weft': executable.toBytes() });
  const model = await TextModel.load(read, { device: 'wasm', worker: false });
  const ids: number[] = [];
  const generation = model.generate(PROMPT, { temperature: 0, maxTokens: COUNT });
  for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
  await model.dispose();

  // The logits behind each token of the whole text say which one comes next.
  const logits = referenceLogits(CONFIG, decoder.weights, [...PROMPT, ...ids]);
  expect(ids).toHaveLength(COUNT);
  for (const [i, id] of ids.entries()) {
    const row = logits[PROMPT.length - 1 + i] ?? [];
    expect(Math.max(...row) - (row[id] ?? Number.NaN)).toBeLessThan(1e-4);
  }
});
