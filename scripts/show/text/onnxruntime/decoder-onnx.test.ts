import { expect, test } from 'vitest';
import { randomDecoder } from '../../../../src/frontend/decoders/architectures/testing/decoder-files.ts';
import { referenceLogits } from '../../../../src/frontend/decoders/architectures/testing/reference-decoder.ts';
import { PlainModel } from '../../../../src/text/testing/plain-model.ts';
import { decoderOnnx } from './decoder-onnx.ts';

const CONFIG = {
  model_type: 'llama',
  vocab_size: 40,
  hidden_size: 64,
  intermediate_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  max_position_embeddings: 32,
  tie_word_embeddings: false,
};
const TOKENS = [5, 20, 31, 17, 2, 20, 9];

test.each([
  ['F32', 'joined'],
  ['F32', 'grouped'],
  ['Q4_0', 'grouped'],
  ['Q8_0', 'grouped'],
  ['Q8_0', 'joined'],
] as const)('a file of %s with %s attention has the logits of plain loops', async (type, form) => {
  const decoder = randomDecoder(CONFIG, 3, () => type);
  const expected = referenceLogits(CONFIG, decoder.weights, TOKENS).at(-1) ?? [];
  const model = await PlainModel.open(decoderOnnx(decoder, form));
  const logits = await model.logits(TOKENS);
  await model.dispose();
  expect(logits).toHaveLength(CONFIG.vocab_size);
  for (const [i, logit] of logits.entries()) expect(logit).toBeCloseTo(expected[i] ?? NaN, 4);
});

test('other architectures and types are refused', () => {
  const qwen = randomDecoder({ ...CONFIG, model_type: 'qwen2' }, 3);
  expect(() => decoderOnnx(qwen, 'joined')).toThrow('got the architecture qwen2, expected llama');
  const half = randomDecoder(CONFIG, 3, () => 'F16');
  expect(() => decoderOnnx(half, 'joined')).toThrow('got F16, expected Q4_0 or Q8_0');
});
