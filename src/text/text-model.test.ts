import { beforeAll, describe, expect, test } from 'vitest';
import { Session } from '../client/session.ts';
import { Tensor } from '../client/tensor.ts';
import { openTestModel, testModelBytes } from './testing/open-test-model.ts';

/** Behind it the two likeliest tokens are 0.012 apart at least, more than rounding of halves at other steps changes. */
const PROMPT = [5, 200, 311, 17, 54];
const LENGTH = 24;

/** What the model itself says at each step, all tokens read again each time. */
async function greedyTokens(prompt: readonly number[], count: number): Promise<number[]> {
  const session = await Session.load(testModelBytes(), { device: 'host', worker: false });
  const past = Object.fromEntries(
    session.inputs
      .filter(({ name }) => name.startsWith('past'))
      .map(({ name }) => [name, new Tensor('float16', new Uint16Array(0), [1, 2, 0, 8])]),
  );
  const tokens = [...prompt];
  for (let i = 0; i < count; i++) {
    const ids = new Tensor('int64', BigInt64Array.from(tokens.map(BigInt)), [1, tokens.length]);
    const mask = new Tensor('int64', new BigInt64Array(tokens.length).fill(1n), [1, tokens.length]);
    const { logits } = await session.run({ input_ids: ids, attention_mask: mask, ...past });
    const row = [...(logits?.data ?? [])].map(Number).slice(-512);
    tokens.push(row.indexOf(Math.max(...row)));
  }
  await session.dispose();
  return tokens.slice(prompt.length);
}

let expected: readonly number[];
beforeAll(async () => {
  expected = await greedyTokens(PROMPT, LENGTH);
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
