import { describe, expect, test } from 'vitest';
import {
  ggufOf,
  randomDecoder,
  safetensorsOf,
} from '../frontend/decoders/architectures/testing/decoder-files.ts';
import { testModelBytes } from './testing/open-test-model.ts';
import { storyFolder } from './testing/story-file.ts';
import type { TextLoadOptions } from './load/load-options.ts';
import { TextModel } from './text-model.ts';

const CONFIG = {
  model_type: 'llama',
  vocab_size: 512,
  hidden_size: 64,
  intermediate_size: 96,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 256,
  tie_word_embeddings: true,
};

interface Written {
  readonly ids: readonly number[];
  readonly error: number | undefined;
}

/** Generates at temperature 0, and measures the error that rounding gave the weights. */
async function written(
  files: Readonly<Record<string, Uint8Array>>,
  options: TextLoadOptions,
): Promise<Written> {
  const model = await TextModel.load(storyFolder(files), {
    device: 'wasm',
    worker: false,
    ...options,
  });
  const error = (await model.quantization())?.error;
  const ids: number[] = [];
  const generation = model.generate([5, 200, 311, 17], { temperature: 0, maxTokens: 16 });
  for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
  await model.dispose();
  return { ids, error };
}

describe('weights that are rounded while they are loaded', () => {
  test.each([
    ['q8_0', () => 'Q8_0', 0.002, 0.01],
    ['q4_0', (name: string) => (name.includes('embed') ? 'Q8_0' : 'Q4_0'), 0.01, 0.12],
  ] as const)(
    'to %s are those of a file that has them so',
    async (quantize, typeOf, least, most) => {
      const rounded = await written(
        { 'm.gguf': ggufOf(randomDecoder(CONFIG, 9, typeOf)) },
        { file: 'm.gguf' },
      );
      const exact = { 'm.gguf': ggufOf(randomDecoder(CONFIG, 9)) };
      const here = await written(exact, { file: 'm.gguf', quantize });
      expect(here.ids).toEqual(rounded.ids);
      expect(rounded.error).toBeUndefined();
      expect(here.error).toBeGreaterThan(least);
      expect(here.error).toBeLessThan(most);
    },
  );

  test('of safetensors as of GGUF', async () => {
    const decoder = randomDecoder(CONFIG, 9);
    const config = new TextEncoder().encode(JSON.stringify(CONFIG));
    const files = { 'm.safetensors': safetensorsOf(decoder), 'config.json': config };
    const options = { quantize: 'q4_0' } as const;
    const here = await written(files, { file: 'm.safetensors', ...options });
    const gguf = await written({ 'm.gguf': ggufOf(decoder) }, { file: 'm.gguf', ...options });
    // llama.cpp orders rows of queries and keys in another way, which moves no element.
    expect(here.ids).toEqual(gguf.ids);
    expect(here.error).toBeCloseTo(gguf.error ?? 0, 6);
  });

  test('of products of a model in ONNX', async () => {
    const files = { 'm.onnx': testModelBytes() };
    const plain = await written(files, { file: 'm.onnx' });
    const here = await written(files, { file: 'm.onnx', quantize: 'q8_0' });
    expect(here.error).toBeGreaterThan(0.002);
    expect(here.error).toBeLessThan(0.01);
    expect(here.ids).toEqual(plain.ids);
    const coarse = await written(files, { file: 'm.onnx', quantize: 'q4_0' });
    expect(coarse.error).toBeGreaterThan(0.02);
    expect(coarse.error).toBeLessThan(0.12);
  });

  test('but not of an executable', async () => {
    const options = { file: 'model.weft', quantize: 'q4_0' } as const;
    await expect(written({}, options)).rejects.toThrow(
      'model.weft: got an executable with the option quantize, expected a model that is compiled. Compile it with weft text --quantize q4_0,',
    );
    const other = { file: 'm.gguf', quantize: 'q5_0' } as unknown as TextLoadOptions;
    await expect(written({}, other)).rejects.toThrow(
      'TextModel.load: got quantize "q5_0", expected "q8_0" or "q4_0".',
    );
  });
});
