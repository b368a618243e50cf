import { expect, test } from 'vitest';
import { compile } from '../compiler/compile.ts';
import { joinedModelBytes } from '../frontend/text/testing/joined-model.ts';
import { textModule } from '../frontend/text/text-module.ts';
import { PlainModel } from './testing/plain-model.ts';
import { storyFolder } from './testing/story-file.ts';
import { TextModel } from './text-model.ts';

async function open(bytes: Uint8Array, device: 'host' | 'wasm'): Promise<TextModel> {
  const executable = compile(textModule(bytes), { verify: true }).toBytes();
  const read = storyFolder({ 'model.weft': executable });
  return TextModel.load(read, { device, worker: false });
}

test.each([
  ['with positions', true],
  ['that counts its positions', false],
])('a model %s, which joins past and new keys', async (_, hasPositions) => {
  const bytes = joinedModelBytes({ hasPositions });
  const model = await open(bytes, 'wasm');
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
      expect(best - (row[id] ?? Number.NEGATIVE_INFINITY), `${length} + ${i}`).toBeLessThan(1e-3);
    }
  }
  await Promise.all([model.dispose(), plain.dispose()]);
});
