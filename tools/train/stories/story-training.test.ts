import { expect, test } from 'vitest';
import { compileOnnx } from '../../../src/frontend/index.ts';
import { splitState, type Trainer } from '../trainer.ts';
import { stateShapes } from '../training-program.ts';
import { trainBytePairs } from './byte-pairs.ts';
import { openStoryTrainer } from './open-trainer.ts';
import { batchInputs, storyBatch, tokenizerTexts } from './story-batches.ts';
import { writeStoryModel } from '../../../src/text/testing/story-model.ts';
import {
  STORY_SIZES,
  type StorySizes,
  weightShapes,
} from '../../../src/text/testing/story-sizes.ts';
import { StoryReader } from '../../../src/text/testing/story-reader.ts';

const SIZES: StorySizes = {
  ...STORY_SIZES,
  layers: 1,
  width: 32,
  heads: 4,
  keyHeads: 2,
  inner: 48,
};
const SHAPE = { rows: 2, length: 96 };
const pairs = trainBytePairs(tokenizerTexts(1, 100), STORY_SIZES.vocabulary);

const batchOf = (step: number) => batchInputs(storyBatch(SHAPE, { pairs, seed: step }), SHAPE);

async function train(trainer: Trainer, until: number): Promise<number[]> {
  const losses: number[] = [];
  while (trainer.steps < until) {
    losses.push((await trainer.step(batchOf(trainer.steps + 1), 1e-2)).loss);
  }
  return losses;
}

const open = (seed: number): Promise<Trainer> =>
  openStoryTrainer(SIZES, { ...SHAPE, seed, spellings: pairs.spellings(), threads: 1 });

test('a story model learns, is stored and goes on to the same bits, and its ONNX says the same', async () => {
  const straight = await open(1);
  const losses = await train(straight, 20);
  expect(losses[0]).toBeGreaterThan(Math.log(STORY_SIZES.vocabulary) - 0.5);
  expect(losses[19]).toBeLessThan(3.5);

  const stopped = await open(2);
  stopped.load(0, await (await open(1)).save());
  await train(stopped, 10);
  const resumed = await open(3);
  resumed.load(stopped.steps, await stopped.save());
  await train(resumed, 20);
  const state = await straight.save();
  expect(Buffer.compare(await resumed.save(), state)).toBe(0);

  const weights = splitState(stateShapes(weightShapes(SIZES)), state);
  const onnx = writeStoryModel(SIZES, weights);
  const { tokens } = storyBatch({ rows: 1, length: 64 }, { pairs, seed: 9 });
  const ids = Array.from(tokens.subarray(0, 24));
  const { tokens: input, stories } = batchInputs(
    {
      tokens: Int32Array.from(ids),
      targets: new Int32Array(24),
      shares: new Float32Array(24),
      stories: new Int32Array(24),
    },
    { rows: 1, length: 24 },
  );
  const expected = await straight.evaluate('logits', { tokens: input, stories });
  for (const device of ['host', 'wasm'] as const) {
    const reader = await StoryReader.open(onnx, SIZES, device);
    const { logits } = await reader.read([ids]);
    expect(largestDifference(logits, expected), device).toBeLessThan(0.03);
    await reader.dispose();
  }
  expect(compileOnnx(onnx).toBytes().length).toBeGreaterThan(0);
});

test('a state of another model is refused', async () => {
  const trainer = await open(1);
  const bytes = new Uint8Array(64);
  expect(() => trainer.load(1, bytes)).toThrow(
    /^The checkpoint has 16 numbers, and the model's state \d+: /,
  );
  await trainer.dispose();
});

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (b[i] ?? Number.NaN))), 0);
}
