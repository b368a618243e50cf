import { expect, test } from 'vitest';
import { compile } from '../compiler/compile.ts';
import type { CacheType } from '../core/text-layout.ts';
import { joinedModelBytes } from '../frontend/decoders/testing/joined-model.ts';
import { textModule } from '../frontend/decoders/text-module.ts';
import { PlainModel } from './testing/plain-model.ts';
import { storyFolder } from './testing/story-file.ts';
import { TextModel } from './text-model.ts';

async function open(bytes: Uint8Array, cacheType: CacheType | undefined): Promise<TextModel> {
  const executable = compile(textModule(bytes, { cacheType }), { verify: true }).toBytes();
  const read = storyFolder({ 'model.weft': executable });
  return TextModel.load(read, { device: 'wasm', worker: false });
}

/** By how much the likeliest token's logit may be more than that of the one that is drawn. */
const MARGIN = { float32: 1e-3, float16: 0.01, int8: 0.2 };

test.each([
  ['with positions', true, undefined],
  ['that counts its positions', false, undefined],
  ['with caches of float16', true, 'float16'],
  ['with caches of int8', true, 'int8'],
] as const)('a model %s, which joins past and new keys', async (_, hasPositions, cacheType) => {
  const bytes = joinedModelBytes({ hasPositions });
  const model = await open(bytes, cacheType);
  const plain = await PlainModel.open(bytes);
  for (const length of [1, 5, 20, 110, 125]) {
    const prompt = Array.from({ length }, (_, i) => ((i * 31 + length) % 88) + 1);
    const options = { temperature: 0, maxTokens: 12, logitBias: { 0: -1000 } };
    const tokens: number[] = [];
    for await (const { id } of model.generate(prompt, options).tokens())
      if (id >= 0) tokens.push(id);
    expect(tokens.length).toBe(12);
    for (const [i, id] of tokens.entries()) {
      const row = await plain.logits([...prompt, ...tokens.slice(0, i)]);
      const best = Math.max(...row.slice(1));
      expect(best - (row[id] ?? Number.NEGATIVE_INFINITY), `${length} + ${i}`).toBeLessThan(
        MARGIN[cacheType ?? 'float32'],
      );
    }
  }
  // Two layers of keys and values of two heads of 8 elements, for one position.
  const bytesOfPosition =
    2 * 2 * 2 * { float32: 32, float16: 16, int8: 12 }[cacheType ?? 'float32'];
  expect(model.cacheBytes % (128 * bytesOfPosition)).toBe(0);
  expect(model.cacheBytes).toBeLessThan(5 * 512 * bytesOfPosition);
  await Promise.all([model.dispose(), plain.dispose()]);
});
