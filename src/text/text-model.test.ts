import { beforeAll, describe, expect, test } from 'vitest';
import { openTestModel, testModelBytes } from './testing/open-test-model.ts';
import { PlainModel } from './testing/plain-model.ts';

/** Behind it the two likeliest tokens are 0.012 apart at least, more than rounding of halves at other steps changes. */
const PROMPT = [5, 200, 311, 17, 54];
const LENGTH = 24;

let expected: readonly number[];
beforeAll(async () => {
  const plain = await PlainModel.open(testModelBytes());
  expected = await plain.greedyTokens(PROMPT, LENGTH);
  await plain.dispose();
});

describe.each(['host', 'wasm', 'webgpu'] as const)('on %s', (device) => {
  test('tokens are those of the model without caches', async () => {
    const model = await openTestModel(device);
    const ids: number[] = [];
    const generation = model.generate(PROMPT, { temperature: 0, maxTokens: LENGTH });
    for await (const { id } of generation.tokens()) if (id >= 0) ids.push(id);
    expect(ids).toEqual(expected);
    expect(generation.finishReason).toBe('length');
    expect(generation.usage).toMatchObject({ promptTokens: 5, completionTokens: LENGTH });
    await model.dispose();
  });
});
