import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UsageError } from '../core/errors.ts';
import { ggufOf, randomDecoder } from '../frontend/decoders/architectures/testing/decoder-files.ts';
import type { GenerateOptions } from './generate-options.ts';
import { openTestModel, testModelBytes } from './testing/open-test-model.ts';
import { storyFolder } from './testing/story-file.ts';
import { TextModel } from './text-model.ts';

const PROMPT = [5, 200, 311, 17, 54];
const GREEDY = { temperature: 0, maxTokens: 48 };

async function idsOf(
  model: TextModel,
  prompt: readonly number[],
  options: GenerateOptions = GREEDY,
): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of model.generate(prompt, options).tokens()) if (id >= 0) ids.push(id);
  return ids;
}

describe.each(['wasm', 'webgpu'] as const)('caches of int8 on %s', (device) => {
  let model: TextModel;
  let exact: TextModel;
  let expected: number[];
  let [first, share]: [first: number[], share: number] = [[], 0];
  beforeAll(async () => {
    model = await openTestModel(device, { cacheType: 'int8' });
    exact = await openTestModel(device);
    expected = await idsOf(exact, PROMPT);
    first = await idsOf(model, PROMPT);
    // Other texts add caches.
    share = model.cacheBytes / exact.cacheBytes;
  });
  afterAll(() => Promise.all([model.dispose(), exact.dispose()]));

  test('take less memory, and the likeliest text is that of float16', () => {
    expect(first).toEqual(expected);
    // Heads of 8 elements with a scale of 4 bytes, in place of 16 bytes.
    expect(share).toBe(12 / 16);
  });

  test('are rolled back, and copied when a text goes on otherwise', async () => {
    // Of its own: caches that other texts left would be taken.
    const forking = await openTestModel(device, { cacheType: 'int8' });
    const long = [...PROMPT, ...expected.slice(0, 40)];
    const rest = await idsOf(forking, long, { ...GREEDY, maxTokens: 8 });
    expect(rest).toEqual(expected.slice(40, 48));
    const before = forking.cacheBytes;
    const other = [...long.slice(0, 12), 77, 78];
    const forked = await idsOf(forking, other);
    expect(forking.cacheBytes).toBeGreaterThan(before);
    const fresh = await openTestModel(device, { cacheType: 'int8' });
    expect(forked).toEqual(await idsOf(fresh, other));
    await fresh.dispose();
    expect(await idsOf(forking, PROMPT)).toEqual(expected);
    await forking.dispose();
  });

  test('hold guesses and batches', async () => {
    const repeated = [...PROMPT, ...PROMPT, ...PROMPT];
    const plain = await idsOf(model, repeated);
    expect(await idsOf(model, repeated, { ...GREEDY, speculate: 'prompt' })).toEqual(plain);
    const batch = await model.generateBatch([PROMPT, repeated], GREEDY).text();
    expect(batch).toEqual([
      await model.generate(PROMPT, GREEDY).text(),
      await model.generate(repeated, GREEDY).text(),
    ]);
  });
});

/** A text that is saved after its first tokens. */
async function saved(model: TextModel): Promise<Uint8Array> {
  const generation = model.generate(PROMPT, GREEDY);
  let count = 0;
  for await (const _ of generation.tokens()) if (++count === 16) break;
  return generation.save();
}

test('a text moves with its caches, but to no model with others', async () => {
  const [from, to, other] = [
    await openTestModel('wasm', { cacheType: 'int8' }),
    await openTestModel('host', { cacheType: 'int8' }),
    await openTestModel('wasm'),
  ];
  const bytes = await saved(from);
  const expected = await idsOf(from, PROMPT);
  const ids: number[] = [];
  for await (const { id } of (await to.resume(bytes)).tokens()) if (id >= 0) ids.push(id);
  expect(ids).toEqual(expected.slice(16));
  await expect(other.resume(bytes)).rejects.toThrow(UsageError);
  await expect(other.resume(bytes)).rejects.toThrow(
    'resume: got a generation with caches of int8, expected caches of float16, as this model has them. Load the model with the cacheType that it was saved with, or generate again from its text.',
  );
  await expect(from.resume(await saved(other))).rejects.toThrow(
    'resume: got a generation with caches of float16, expected caches of int8, as this model has them.',
  );
  await Promise.all([from.dispose(), to.dispose(), other.dispose()]);
});

test('a model is compiled with them where it is loaded', async () => {
  const config = {
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
  const read = storyFolder({ 'm.gguf': ggufOf(randomDecoder(config, 9)) });
  const place = { device: 'wasm', worker: false, file: 'm.gguf' } as const;
  const texts: number[][] = [];
  const bytes: number[] = [];
  for (const cacheType of [undefined, 'float16', 'int8'] as const) {
    const model = await TextModel.load(read, { ...place, ...(cacheType ? { cacheType } : {}) });
    texts.push(await idsOf(model, PROMPT, { temperature: 0, maxTokens: 32 }));
    bytes.push(model.cacheBytes);
    await model.dispose();
  }
  expect(texts[1]).toEqual(texts[0]);
  expect(bytes).toEqual([1, 1 / 2, 20 / 64].map((share) => share * (bytes[0] ?? 0)));
});

test('an executable has the caches that it was compiled with', async () => {
  const read = storyFolder({ 'model.weft': testModelBytes() });
  await expect(TextModel.load(read, { cacheType: 'int8' })).rejects.toThrow(
    'model.weft: got an executable with the option cacheType, expected a model that is compiled. Compile it with weft text --cache-type int8, or load the model that it was made from.',
  );
});
