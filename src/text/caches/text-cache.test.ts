import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openTestModel, testModelBytes } from '../testing/open-test-model.ts';
import { PlainModel } from '../testing/plain-model.ts';
import type { TextModel } from '../text-model.ts';
import { TextProgram } from '../text-program.ts';

/** Tokens of a text, none of them its end. */
const text = (length: number, seed = 0): number[] =>
  Array.from({ length }, (_, i) => ((i * 37 + (i + seed) * (i + 3)) % 509) + 1);

let model: TextModel;
let plain: PlainModel;
beforeAll(async () => {
  model = await openTestModel('wasm');
  plain = await PlainModel.open(testModelBytes());
});
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
  [16, [16]],
  [60, [64]],
  [100, [64, 64]],
  [200, [256]],
])('a text of %i tokens is read in pieces of %j', async (length, pieces) => {
  const prefill = vi.spyOn(TextProgram.prototype, 'prefill');
  const fresh = await openTestModel('wasm');
  await fresh.generate(text(length), { temperature: 0, maxTokens: 1 }).text();
  expect(prefill.mock.calls.map(([, , { room }]) => room)).toEqual(pieces);
  prefill.mockRestore();
  await fresh.dispose();
});

test('at the end of the caches tokens are read again rather than one by one', async () => {
  const fresh = await openTestModel('wasm');
  const tokens = text(255, 5);
  await fresh.generate(tokens.slice(0, 20), { temperature: 0, maxTokens: 1 }).text();
  const prefill = vi.spyOn(TextProgram.prototype, 'prefill');
  const ids: number[] = [];
  const generation = fresh.generate(tokens, { temperature: 0, maxTokens: 1 });
  for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
  expect(prefill.mock.calls.map(([, , { positions, room }]) => [positions[0], room])).toEqual([
    [20, 64],
    [84, 64],
    [148, 64],
    [192, 64],
  ]);
  prefill.mockRestore();
  expect(await distance(tokens, ids[0] ?? -1)).toBeLessThan(0.02);
  await fresh.dispose();
});

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
