import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestModel } from './testing/open-test-model.ts';
import type { BatchOptions } from './generate-options.ts';
import type { TextModel } from './text-model.ts';

const tokens = (length: number): number[] =>
  Array.from({ length }, (_, i) => ((i * 71 + length * 13) % 500) + 1);
/** Some are shorter than others by more than a piece that is read at once. */
const PROMPTS = [5, 1, 40, 90, 17, 16].map(tokens);

const OPTIONS: Record<string, BatchOptions> = {
  likeliest: { temperature: 0, maxTokens: 21 },
  random: { temperature: 1.2, topP: 0.98, seed: 11, maxTokens: 30 },
  penalized: {
    temperature: 0.9,
    seed: 3,
    frequencyPenalty: 0.7,
    repetitionPenalty: 1.2,
    maxTokens: 20,
  },
};

let model: TextModel;
beforeAll(async () => {
  model = await openTestModel('wasm');
});
afterAll(() => model.dispose());

test.each(Object.keys(OPTIONS))('%s texts are those that each is alone', async (kind) => {
  const { seed = 0, ...options } = OPTIONS[kind] ?? {};
  const alone: string[] = [];
  const reasons: unknown[] = [];
  for (const [row, prompt] of PROMPTS.entries()) {
    const generation = model.generate(prompt, { ...options, seed: seed + row });
    alone.push(await generation.text());
    reasons.push(generation.finishReason);
  }
  const batch = model.generateBatch(PROMPTS, { ...options, seed });
  expect(await batch.text()).toEqual(alone);
  expect(batch.finishReasons).toEqual(reasons);
  expect(new Set(alone).size).toBe(PROMPTS.length);
});

test('texts end one by one, at strings and at the end of the context', async () => {
  const options = { temperature: 0, logitBias: { 0: -100 } };
  const prompts = [tokens(4), tokens(250)];
  const [first = ''] = await model
    .generateBatch(prompts.slice(0, 1), { ...options, maxTokens: 40 })
    .text();
  const stop = first.slice(20, 23);
  const batch = model.generateBatch(prompts, { ...options, stop });
  const [short, long] = await batch.text();
  expect(short).toBe(first.slice(0, first.indexOf(stop)));
  const alone = model.generate(tokens(250), { ...options, stop });
  expect(long).toBe(await alone.text());
  expect(batch.finishReasons).toEqual(['stop', alone.finishReason]);
});

test('a batch that is left frees its memory, and is iterated over once', async () => {
  const run = async (): Promise<void> => {
    for await (const _ of model.generateBatch(PROMPTS, { seed: 1, presencePenalty: 1 })) break;
  };
  for (let i = 0; i < 3; i++) await run();
  const { liveBytes } = await model.session.memory();
  const { cacheBytes } = model;
  for (let i = 0; i < 3; i++) await run();
  expect((await model.session.memory()).liveBytes).toBe(liveBytes);
  expect(model.cacheBytes).toBe(cacheBytes);
  const batch = model.generateBatch(PROMPTS, { maxTokens: 1 });
  await batch.text();
  await expect(batch.text()).rejects.toThrow('TextBatch: got a second iteration');
});

test('errors name what is wrong', () => {
  expect(() => model.generateBatch([])).toThrow('prompts: got none, expected one or more.');
  expect(() => model.generateBatch([[1], [512]])).toThrow('prompt: got the token 512 at 0');
  expect(() => model.generateBatch([[1]], { constraint: {} } as BatchOptions)).toThrow(
    'generateBatch: got an unknown option "constraint"',
  );
});
