import { expect, test } from 'vitest';
import { equalModules } from '../../../compiler/ir/walk/structural-equal.ts';
import { loadFrom } from './testing/decode-runner.ts';
import { randomDecoder } from './testing/decoder-files.ts';
import {
  expectReference,
  fromGguf,
  fromSafetensors,
  type MoreOfGguf,
  TOKENS,
  worst,
} from './testing/expect-reference.ts';
import { referenceLogits, type TestedConfig } from './testing/reference-decoder.ts';

const SIZES = {
  vocab_size: 40,
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  // GGUF has it in float32.
  rms_norm_eps: 2 ** -17,
  rope_theta: 10_000,
  max_position_embeddings: 2048,
  tie_word_embeddings: false,
};

interface Tested extends MoreOfGguf {
  readonly config: TestedConfig;
}

const LLAMA3 = {
  rope_type: 'llama3',
  factor: 8,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 64,
};

const YARN = { rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64 };

const TESTED: Readonly<Record<string, Tested>> = {
  llama: { config: { ...SIZES, model_type: 'llama' } },
  'llama with linear scaling': {
    config: { ...SIZES, model_type: 'llama', rope_scaling: { type: 'linear', factor: 4 } },
    metadata: { 'rope.scaling.type': 'linear', 'rope.scaling.factor': 4 },
  },
  'llama with YaRN': {
    config: { ...SIZES, model_type: 'llama', rope_scaling: YARN, rope_theta: 500 },
    // Pairs 0 and 2 are the ends of the way from one frequency to the other.
    metadata: {
      'rope.scaling.type': 'yarn',
      'rope.scaling.factor': 4,
      'rope.scaling.original_context_length': 64,
    },
  },
  'qwen3 with YaRN and its turns': {
    config: {
      ...SIZES,
      model_type: 'qwen3',
      head_dim: 16,
      rope_scaling: { ...YARN, beta_fast: 4, beta_slow: 0.5 },
    },
    metadata: {
      'rope.scaling.type': 'yarn',
      'rope.scaling.factor': 4,
      'rope.scaling.original_context_length': 64,
      'rope.scaling.yarn_beta_fast': 4,
      'rope.scaling.yarn_beta_slow': 0.5,
    },
  },
  'llama 3': {
    config: { ...SIZES, model_type: 'llama', rope_scaling: LLAMA3, rope_theta: 500 },
    // 500^(-2 i / 8) over a context of 64: 10.2, 2.15, 0.46 and 0.1 waves.
    tensors: { 'rope_freqs.weight': [1, 2.166375206080068, 8, 8] },
  },
  qwen2: { config: { ...SIZES, model_type: 'qwen2', tie_word_embeddings: true } },
  qwen3: { config: { ...SIZES, model_type: 'qwen3', head_dim: 16 } },
  gemma2: {
    config: {
      ...SIZES,
      model_type: 'gemma2',
      num_hidden_layers: 3,
      tie_word_embeddings: true,
      sliding_window: 4,
      query_pre_attn_scalar: 8,
      attn_logit_softcapping: 2,
      final_logit_softcapping: 3,
    },
  },
  gemma3: {
    config: {
      ...SIZES,
      model_type: 'gemma3_text',
      num_hidden_layers: 6,
      tie_word_embeddings: true,
      sliding_window: 4,
      query_pre_attn_scalar: 8,
      rope_theta: 1_000_000,
      rope_local_base_freq: 10_000,
      rope_scaling: { rope_type: 'linear', factor: 8 },
    },
    metadata: { 'rope.scaling.type': 'linear', 'rope.scaling.factor': 8 },
  },
  phi3: { config: { ...SIZES, model_type: 'phi3', sliding_window: 5 } },
  'phi3 with LongRoPE': {
    config: {
      ...SIZES,
      model_type: 'phi3',
      head_dim: 8,
      partial_rotary_factor: 0.75,
      original_max_position_embeddings: 256,
      rope_scaling: { type: 'longrope', short_factor: [1, 1, 1], long_factor: [1, 2.5, 9] },
    },
    metadata: {
      'rope.scaling.type': 'longrope',
      'rope.scaling.original_context_length': 256,
      'rope.scaling.attn_factor': Math.sqrt(1 + Math.log(8) / Math.log(256)),
    },
    tensors: { 'rope_factors_short.weight': [1, 1, 1], 'rope_factors_long.weight': [1, 2.5, 9] },
  },
};

const decoderFor = (name: string, { config }: Tested) => randomDecoder(config, name.length);

test.each(Object.entries(TESTED))(
  '%s from GGUF gives the logits of the published architecture',
  async (name, tested) => {
    const decoder = decoderFor(name, tested);
    await expectReference(decoder, fromGguf(decoder, tested));
  },
);

// GGUF has such factors rounded to float32.
const hasFactors = ([, { tensors }]: readonly [string, Tested]): boolean => tensors !== undefined;

test.each(Object.entries(TESTED).filter((entry) => !hasFactors(entry)))(
  '%s from safetensors is the same program',
  async (name, tested) => {
    const decoder = decoderFor(name, tested);
    const [gguf, other] = [fromGguf(decoder, tested), fromSafetensors(decoder)];
    const { module } = await loadFrom(gguf.file, gguf.bytes);
    const same = await loadFrom(other.file, other.bytes);
    expect(equalModules(module, same.module)).toBe(true);
  },
);

test.each(Object.entries(TESTED).filter(hasFactors))(
  '%s from safetensors gives these logits too',
  async (name, tested) => {
    const decoder = decoderFor(name, tested);
    await expectReference(decoder, fromSafetensors(decoder));
  },
);

test('the architectures differ in more than the tolerance', () => {
  const { config } = TESTED['gemma2'] ?? {};
  if (config === undefined) throw new Error('no gemma2');
  const { weights } = randomDecoder(config, 6);
  const row = TOKENS[0] ?? [];
  const logits = (changes: Partial<TestedConfig>): readonly number[] =>
    referenceLogits({ ...config, ...changes }, weights, row).at(-1) ?? [];
  const own = logits({});
  for (const changes of [
    { sliding_window: 5 },
    { attn_logit_softcapping: 3 },
    { final_logit_softcapping: 4 },
    { query_pre_attn_scalar: 9 },
    { rope_theta: 9000 },
    { rms_norm_eps: 1e-2 },
  ]) {
    expect(worst(logits(changes), own)).toBeGreaterThan(1e-3);
  }
});
