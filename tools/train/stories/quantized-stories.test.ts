import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { quantizeOnnx } from '../../../src/frontend/index.ts';
import { BytePairs, END } from './byte-pairs.ts';
import { storyText } from './story-grammar.ts';
import { StorySource } from './story-batches.ts';
import { STORY_SIZES } from '../../../src/text/testing/story-sizes.ts';
import { StoryReader } from '../../../src/text/testing/story-reader.ts';

const read = (name: string): Buffer =>
  readFileSync(new URL(`../../../public/models/stories/${name}`, import.meta.url));

const pairs = BytePairs.fromJson(read('tokenizer.json').toString());
const model = read('onnx/model_fp16.onnx');
const STORIES = 12;

/** Stories that no step of the training saw, from the end of text to the end of text. */
function heldOutStories(): readonly (readonly number[])[] {
  const source = new StorySource(4242, 'held out');
  return Array.from({ length: STORIES }, () => [
    END,
    ...pairs.encode(storyText(source.next())),
    END,
  ]);
}

/** The mean loss of a token, in nats. */
async function lossOf(bytes: Uint8Array): Promise<number> {
  const reader = await StoryReader.open(bytes, STORY_SIZES);
  const { vocabulary } = STORY_SIZES;
  let [loss, count] = [0, 0];
  for (const ids of heldOutStories()) {
    const { logits } = await reader.read([ids.slice(0, -1)]);
    for (let i = 1; i < ids.length; i++) {
      const row = logits.subarray((i - 1) * vocabulary, i * vocabulary);
      const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
      const sum = row.reduce((total, logit) => total + Math.exp(logit - most), 0);
      loss -= (row[ids[i] ?? 0] ?? 0) - most - Math.log(sum);
      count++;
    }
  }
  await reader.dispose();
  return loss / count;
}

let float: number;
beforeAll(async () => {
  float = await lossOf(model);
});

test('the float model has learnt them', () => {
  expect(float).toBeLessThan(1);
});

test.each([
  [{ bits: 4 }, 1.05],
  [{ bits: 4, symmetric: true }, 1.05],
  [{ bits: 8 }, 1.001],
] as const)(
  'with %o the loss on held-out stories is at most %s times that',
  async (options, most) => {
    const quantized = quantizeOnnx(model, options);
    expect(quantized.layers).toHaveLength(22);
    const loss = await lossOf(quantized.model);
    expect(loss).toBeLessThan(float * most);
  },
);
