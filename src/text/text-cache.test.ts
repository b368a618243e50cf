import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestModel, testModelBytes } from './testing/open-test-model.ts';
import { PlainModel } from './testing/plain-model.ts';
import type { TextModel } from './text-model.ts';

/** Tokens of a text, none of them its end. */
const text = (length: number, seed = 0): number[] =>
  Array.from({ length }, (_, i) => ((i * 37 + (i + seed) * (i + 3)) % 509) + 1);

let model: TextModel;
let plain: PlainModel;
beforeAll(async () => {
  model = await openTestModel('wasm');
  plain = await PlainModel.open(testModelBytes());
}, 120_000);
afterAll(() => Promise.all([model.dispose(), plain.dispose()]));

/** The likeliest token behind a text, and how many tokens of the text were not read. */
async function next(tokens: readonly number[]) {
  const generation = model.generate(tokens, { temperature: 0, maxTokens: 1 });
  const ids: number[] = [];
  for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
  return { id: ids[0] ?? -1, cached: generation.usage?.cachedTokens };
}

/** How much less likely than the likeliest token one is; rounding of halves makes some thousandths. */
async function distance(tokens: readonly number[], id: number): Promise<number> {
  const row = await plain.logits(tokens);
  return Math.max(...row) - (row[id] ?? Number.NEGATIVE_INFINITY);
}

test.each([1, 2, 16, 17, 64, 65, 100, 127, 128, 129, 193, 255])(
  'a text of %i tokens is read as the model reads it',
  async (length) => {
    const tokens = text(length, length);
    const { id } = await next(tokens);
    expect(await distance(tokens, id)).toBeLessThan(0.02);
  },
);

test.each([
  [120, 125],
  [120, 128],
  [100, 130],
  [240, 250],
  [250, 255],
])('a text of %i tokens that goes on to %i', async (before, after) => {
  const tokens = text(after, before + 1000);
  await next(tokens.slice(0, before));
  const { id, cached } = await next(tokens);
  expect(cached).toBe(before);
  expect(await distance(tokens, id)).toBeLessThan(0.02);
});

test('maxTokens reserves its memory at the beginning, and only where it is free', async () => {
  const bytesAfterFirst = async (fresh: TextModel, maxTokens?: number): Promise<number> => {
    for await (const _ of fresh.generate(text(5, 77), { temperature: 0, maxTokens }).tokens())
      break;
    return fresh.cacheBytes;
  };
  const small = await openTestModel('wasm');
  const first = await bytesAfterFirst(small);
  await small.dispose();
  const reserved = await openTestModel('wasm');
  expect(await bytesAfterFirst(reserved, 140)).toBe(2 * first);
  await reserved.dispose();
  const limited = await openTestModel('wasm', { cacheBytes: first });
  expect(await bytesAfterFirst(limited, 140)).toBe(first);
  await limited.dispose();
});
