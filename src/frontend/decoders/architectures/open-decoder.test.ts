import { describe, expect, test } from 'vitest';
import { FormatError, UnsupportedError, UsageError } from '../../../core/errors.ts';
import { type GgufHead, readGguf } from '../files/gguf.ts';
import { readSafetensors, type SafetensorsHead } from '../files/safetensors.ts';
import { writeGguf } from '../files/testing/gguf-writer.ts';
import { openGguf, openTransformers } from './open-decoder.ts';
import { ggufOf, randomDecoder, safetensorsOf } from './testing/decoder-files.ts';

const CONFIG = {
  model_type: 'llama',
  vocab_size: 20,
  hidden_size: 32,
  intermediate_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  max_position_embeddings: 64,
  tie_word_embeddings: false,
};
const decoder = randomDecoder(CONFIG, 1);
const own = { name: '', shape: [32, 32], type: 'F32', bytes: new Uint8Array(4096) };

const openWith = (
  ...args: Parameters<typeof ggufOf> extends [unknown, ...infer Rest] ? Rest : never
) => openGguf(readGguf(ggufOf(decoder, ...args)) as GgufHead);

const { tensors } = readSafetensors(safetensorsOf(decoder)) as SafetensorsHead;
const openConfig = (changes: Readonly<Record<string, unknown>>) =>
  openTransformers(JSON.stringify({ ...CONFIG, ...changes }), tensors);

function problemsOf(open: () => unknown): unknown {
  try {
    open();
  } catch (thrown) {
    if (thrown instanceof UnsupportedError) return thrown.details['problems'];
    throw thrown;
  }
  return [];
}

describe('a decoder is opened by the head of its file', () => {
  test('of GGUF', () => {
    const file = openWith();
    expect(file.architecture).toBe('llama');
    expect(file.config).toMatchObject({
      vocabulary: 20,
      layers: 2,
      keyHeads: 2,
      contextLength: 64,
    });
    expect(file.tensors).toHaveLength(decoder.tensors.length);
    const places = file.tensors.map(({ byteOffset }) => byteOffset);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });

  test('a head that is tied to the embedding is not read, even where the file has it', () => {
    const names = (file: { tensors: readonly { name: string }[] }) =>
      file.tensors.map(({ name }) => name);
    expect(names(openConfig({}))).toContain('lm_head.weight');
    expect(names(openConfig({ tie_word_embeddings: true }))).not.toContain('lm_head.weight');
  });

  test('a context may be shorter than the model has it, not longer', () => {
    const head = readGguf(ggufOf(decoder)) as GgufHead;
    expect(openGguf(head, { contextLength: 16 }).config.contextLength).toBe(16);
    expect(() => openGguf(head, { contextLength: 65 })).toThrow(UsageError);
    expect(() => openGguf(head, { contextLength: 65 })).toThrow(
      "option contextLength: got 65, expected an integer from 1 to 64, the model's context.",
    );
  });
});

test('LongRoPE has the factors of the context that is asked for', () => {
  const scaling = { type: 'longrope', short_factor: [1, 1, 1, 1], long_factor: [1, 2, 3, 4] };
  const config = {
    ...CONFIG,
    model_type: 'phi3',
    original_max_position_embeddings: 32,
    rope_scaling: scaling,
  };
  const phi3 = randomDecoder(config, 1);
  const factors = ['short', 'long'].map((length) => ({
    name: `rope_factors_${length}.weight`,
    shape: [4],
    type: 'F32',
    bytes: new Uint8Array(16),
  }));
  const original = { 'rope.scaling.original_context_length': 32 };
  const gguf = readGguf(ggufOf(phi3, original, factors)) as GgufHead;
  const { tensors } = readSafetensors(safetensorsOf(phi3)) as SafetensorsHead;
  for (const [contextLength, length] of [
    [32, 'short'],
    [33, 'long'],
    [undefined, 'long'],
  ] as const) {
    const fromGguf = openGguf(gguf, { contextLength });
    expect(fromGguf.config.rotary.factors).toBe(`rope_factors_${length}.weight`);
    expect(fromGguf.tensors.filter(({ name }) => name.startsWith('rope'))).toHaveLength(1);
    const fromConfig = openTransformers(JSON.stringify(config), tensors, { contextLength });
    expect(fromConfig.config.rotary.factors).toEqual(scaling[`${length}_factor`]);
    expect(fromConfig.config.rotary.magnitude).toBeCloseTo(
      Math.sqrt(1 + Math.log(2) / Math.log(32)),
    );
  }
});

describe('metadata of GGUF means what llama.cpp reads in it', () => {
  const factors = ['short', 'long'].map((length) => ({
    name: `rope_factors_${length}.weight`,
    shape: [4],
    type: 'F32',
    bytes: new Uint8Array(16),
  }));

  test('a factor without a type scales all positions, and type none nothing', () => {
    const scaleOf = (type: Readonly<Record<string, string>>) =>
      openWith({ ...type, 'rope.scaling.factor': 4 }).config.rotary.scale;
    expect(scaleOf({})).toBe(0.25);
    expect(scaleOf({ 'rope.scaling.type': 'none' })).toBe(1);
  });

  test('the size of a window is of no effect in llama', () => {
    const { windows } = openWith({ 'attention.sliding_window': 8 }).config;
    expect(windows).toEqual([undefined, undefined]);
  });

  test('what nobody reads is refused by its name, but for what has no effect', () => {
    expect(problemsOf(() => openWith({ 'attention.scale': 2, logit_scale: 3 }))).toEqual([
      'llama.attention.scale, which is not read',
      'llama.logit_scale, which is not read',
    ]);
    openWith({ vocab_size: 40, expert_used_count: 0, use_parallel_residual: false });
    expect(openWith({ 'rope.scaling.attn_factor': 1.5 }).config.rotary.magnitude).toBe(1.5);
    expect(problemsOf(() => openWith({ 'attention.causal': false }))).toEqual([
      'attention that is not causal',
    ]);
  });

  test('llama has factors of LongRoPE too; qwen2 does not read them', () => {
    const original = { 'rope.scaling.original_context_length': 32 };
    const { rotary } = openWith(original, factors).config;
    expect(rotary.factors).toBe('rope_factors_long.weight');
    const qwen2 = randomDecoder({ ...CONFIG, model_type: 'qwen2' }, 1);
    const open = () => openGguf(readGguf(ggufOf(qwen2, {}, factors)) as GgufHead);
    expect(problemsOf(open)).toEqual([
      'tensor rope_factors_short.weight, which qwen2 does not have',
      'tensor rope_factors_long.weight, which qwen2 does not have',
    ]);
  });
});

describe('one error says all that is lacking', () => {
  test('of a GGUF file', () => {
    const head = readGguf(
      ggufOf(
        decoder,
        { 'rope.scaling.type': 'longrope', expert_count: 8, 'rope.dimension_count': 4 },
        [{ ...own, name: 'blk.0.ffn_gate_inp.weight' }],
      ),
    ) as GgufHead;
    const changed = new Map(head.tensors);
    const change = (name: string, changes: object): void => {
      const tensor = changed.get(name);
      if (tensor !== undefined) changed.set(name, { ...tensor, ...changes });
    };
    change('blk.1.attn_v.weight', { type: 'IQ2_XS' });
    change('blk.0.ffn_down.weight', { shape: [32, 64] });
    changed.delete('output_norm.weight');
    const open = () => openGguf({ ...head, tensors: changed });
    expect(problemsOf(open)).toEqual([
      'a mixture of 8 experts',
      'positions scaled by longrope without rope_factors_long.weight',
      'heads of 8 elements, of which 4 are turned by their positions',
      'no tensor output_norm.weight',
      'blk.0.ffn_down.weight of shape (32, 64), not (32, 32)',
      'blk.1.attn_v.weight of type IQ2_XS',
      'tensor blk.0.ffn_gate_inp.weight, which llama does not have',
    ]);
    expect(open).toThrow('; no tensor output_norm.weight; blk.0.ffn_down');
    expect(open).toThrow(
      ', and 1 more, expected a decoder as llama has it, with tensors of F32, F16, BF16, Q4_0',
    );
  });

  test('of a folder of transformers', () => {
    expect(
      problemsOf(() =>
        openConfig({
          hidden_act: 'relu2',
          rope_scaling: { rope_type: 'dynamic', factor: 2 },
          quantization_config: { quant_method: 'awq' },
          num_attention_heads: 3,
          intermediate_size: 48,
        }),
      ),
    ).toEqual(
      expect.arrayContaining([
        'weights quantised by awq',
        'activation relu2',
        'positions scaled by dynamic',
        '3 heads of queries for 2 of keys',
        'model.layers.1.mlp.up_proj.weight of shape (32, 32), not (48, 32)',
      ]),
    );
  });

  test('an architecture that Weft does not have', () => {
    const metadata = { 'general.architecture': 'mamba' };
    expect(() => openGguf(readGguf(writeGguf({ metadata })) as GgufHead)).toThrow(
      'GGUF file, general.architecture: got mamba, expected one of llama, qwen2, qwen3, gemma2, gemma3, phi3.',
    );
    expect(() => openConfig({ model_type: 'bert' })).toThrow('config.json, model_type: got bert');
  });
});

describe('metadata that make no decoder are a FormatError', () => {
  const refusals: [string, () => unknown, string][] = [
    ['no layers', () => openWith({ block_count: 0 }), 'llama.block_count'],
    ['more layers than tensors', () => openWith({ block_count: 1_000_000 }), 'got 1000000 layers'],
    [
      'a size that is a text',
      () => openWith({ embedding_length: 'x' }),
      'got string, expected a number',
    ],
    [
      'a list of sizes',
      () => openWith({ feed_forward_length: Int32Array.of(1, 2) }),
      'got other values by layer',
    ],
    [
      'a missing size',
      () => openConfig({ hidden_size: undefined }),
      'config.json, hidden_size: got nothing',
    ],
    [
      'half a head',
      () => openConfig({ hidden_size: 30, head_dim: undefined }),
      'head_dim: got 7.5',
    ],
    ['no JSON', () => openTransformers('{', tensors), 'expected JSON'],
    [
      'no embedding',
      () => openTransformers(JSON.stringify(CONFIG), new Map()),
      'no tensor model.embed_tokens.weight',
    ],
  ];
  test.each(refusals)('%s', (_, open, part) => {
    expect(open).toThrow(FormatError);
    expect(open).toThrow(part);
  });
});
