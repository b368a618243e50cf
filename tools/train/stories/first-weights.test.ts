import { expect, test } from 'vitest';
import { trainBytePairs } from './byte-pairs.ts';
import { firstWeights } from './first-weights.ts';
import { openStoryTrainer } from './open-trainer.ts';
import { batchInputs, tokenizerTexts } from './story-batches.ts';
import { STORY_SIZES, weightShapes } from '../../../src/text/testing/story-sizes.ts';

const pairs = trainBytePairs(tokenizerTexts(17, 1000), STORY_SIZES.vocabulary);
const options = { seed: 17, spellings: pairs.spellings() };

test('first weights have the sizes of the model, and follow from the seed', () => {
  const weights = firstWeights(STORY_SIZES, options);
  for (const [name, shape] of weightShapes(STORY_SIZES)) {
    const values = weights.get(name) ?? new Float32Array();
    expect(values.length, name).toBe(shape.reduce((a, b) => a * b, 1));
    expect(values.every(Number.isFinite), name).toBe(true);
  }
  expect(firstWeights(STORY_SIZES, options)).toEqual(weights);
  expect(firstWeights(STORY_SIZES, { ...options, seed: 18 })).not.toEqual(weights);
});

const NAMES = ['Tom', 'Mia', 'Leo', 'Anna', 'Max', 'Zoe', 'Ben', 'Rosa'];
const PLACES = ['park', 'barn', 'shop', 'school', 'attic', 'castle', 'forest', 'market'];

test('before any step the model finds where somebody is more often than by chance', async () => {
  const asked = NAMES.flatMap((name, i) => {
    const other = NAMES[(i + 3) % NAMES.length] ?? '';
    const [here = '', there = ''] = [PLACES[i], PLACES[(i + 5) % PLACES.length]];
    const told = [`${name} went to the ${here}.`, `${other} ran to the ${there}.`];
    const of = (who: string, right: string, wrong: string) =>
      [told, told.toReversed()].map((sentences) => ({
        ids: [0, ...pairs.encode(`${sentences.join(' ')}\nWhere is ${who}? In the`)],
        right: pairs.encode(` ${right}`)[0] ?? 0,
        wrong: pairs.encode(` ${wrong}`)[0] ?? 0,
      }));
    return [...of(name, here, there), ...of(other, there, here)];
  });
  const shape = { rows: asked.length, length: Math.max(...asked.map(({ ids }) => ids.length)) };
  const count = shape.rows * shape.length;
  const tokens = new Int32Array(count);
  for (const [row, { ids }] of asked.entries()) tokens.set(ids, row * shape.length);
  const batch = {
    tokens,
    targets: new Int32Array(count),
    shares: new Float32Array(count),
    stories: new Int32Array(count),
  };
  const trainer = await openStoryTrainer(STORY_SIZES, { ...options, ...shape, threads: 1 });
  const inputs = batchInputs(batch, shape);
  const { vocabulary } = STORY_SIZES;
  const logits = await trainer.evaluate('logits', {
    tokens: inputs.tokens,
    stories: inputs.stories,
  });
  await trainer.dispose();
  const right = asked.filter(({ ids, ...answer }, row) => {
    const at = (row * shape.length + ids.length - 1) * vocabulary;
    return (logits[at + answer.right] ?? 0) > (logits[at + answer.wrong] ?? 0);
  });
  // By chance 16, with a standard deviation of 2.8.
  expect(asked.length).toBe(32);
  expect(right.length).toBeGreaterThan(24);
});
