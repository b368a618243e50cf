import { describe, expect, test } from 'vitest';
import { compile } from '../../../compiler/compile.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { createWebGpuDevice } from '../../../device/webgpu/webgpu-device.ts';
import { sharedNodeGpu } from '../../../testing/node-gpu.ts';
import { loadFrom } from './testing/decode-runner.ts';
import { randomDecoder } from './testing/decoder-files.ts';
import { expectReference, fromGguf, fromSafetensors } from './testing/expect-reference.ts';

const SMALL = {
  model_type: 'llama',
  vocab_size: 40,
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  max_position_embeddings: 512,
  tie_word_embeddings: true,
};

/** Blocks of 256 need rows of as many elements. */
const WIDE = { ...SMALL, hidden_size: 256, intermediate_size: 256, head_dim: 64 };

const wide = (table: string) =>
  randomDecoder(WIDE, 5, (name) => {
    const types = { q_proj: 'Q4_K', k_proj: 'Q5_K', v_proj: 'Q6_K', gate: 'MXFP4', up: 'BF16' };
    const found = Object.entries(types).find(([part]) => name.includes(part));
    return name.includes('embed') ? table : (found?.[1] ?? 'F16');
  });

/** The rarer ones, those of 32 elements in rows of 64. */
const rare = (types: Readonly<Record<string, string>>, config: typeof SMALL, table: string) =>
  randomDecoder(config, 6, (name) => {
    const found = Object.entries(types).find(([part]) => name.includes(part));
    return name.includes('embed') ? table : (found?.[1] ?? 'Q8_0');
  });
const RARE = [
  ['Q5_0', SMALL, { q_proj: 'Q4_1', k_proj: 'Q5_0', v_proj: 'Q5_1', gate: 'IQ4_NL' }],
  ['Q5_1', SMALL, { q_proj: 'Q5_0', up: 'Q4_1', down: 'Q5_1' }],
  ['Q3_K', WIDE, { q_proj: 'Q2_K', k_proj: 'Q3_K', v_proj: 'IQ4_XS', gate: 'Q2_K', up: 'Q3_K' }],
] as const;

const gpu = async () =>
  createWebGpuDevice({ gpu: await sharedNodeGpu(), operators: CORE_OPERATORS });

describe.each(['Q4_0', 'Q8_0'])('%s throughout', (type) => {
  const decoder = randomDecoder(SMALL, 3, () => type);

  test('gives the logits of its dequantised weights', async () => {
    await expectReference(decoder, fromGguf(decoder));
  });

  test('stays as small as the file', async () => {
    const { file, bytes } = fromGguf(decoder);
    const { module } = await loadFrom(file, bytes);
    const { constants } = compile(module);
    const stored = constants.reduce(
      (sum, constant) => sum + (constant.kind === 'tensor' ? constant.byteLength : 0),
      0,
    );
    const weights = decoder.tensors.reduce((sum, { bytes }) => sum + bytes.length, 0);
    // Scales are float32, two bytes a block more; angles have 258 rows, a cosine and a sine for each of 16 elements.
    const scales = decoder.tensors.reduce((sum, { values }) => sum + (2 * values.length) / 32, 0);
    expect(stored).toBeLessThan(weights + scales + 258 * 2 * 16 * 4 + 256);
  });
});

describe.each(['Q4_K', 'Q6_K'])('types of all kinds around embeddings of %s', (table) => {
  test('give the logits of their dequantised weights', async () => {
    const decoder = wide(table);
    await expectReference(decoder, fromGguf(decoder));
  });
});

test('types of all kinds give them on WebGPU too', async () => {
  const decoder = wide('Q4_K');
  await expectReference(decoder, fromGguf(decoder), await gpu());
});

describe.each(RARE)('rarer types around embeddings of %s', (table, config, types) => {
  const decoder = rare(types, config, table);
  test('give the logits of their dequantised weights', async () => {
    await expectReference(decoder, fromGguf(decoder));
  });

  test('give them on WebGPU too', async () => {
    await expectReference(decoder, fromGguf(decoder), await gpu());
  });
});

test('safetensors of BF16 and F16', async () => {
  const decoder = randomDecoder(SMALL, 4, (name) => (name.includes('mlp') ? 'F16' : 'BF16'));
  await expectReference(decoder, fromSafetensors(decoder));
});
