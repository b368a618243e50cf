// Trains the story model of public/models/stories with Weft itself, on its device wasm:
//
//   node scripts/run-ts.mjs tools/train/stories/train-stories.ts [--steps N] [--threads N] [--resume]
//
// Everything follows from the seed: stories, first weights and, step by step, the state. A checkpoint is
// written every few minutes; --resume goes on from it, to the same bits, also with another number of
// threads, and with other --steps as long as the rate has not begun to fall.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BytePairs, trainBytePairs } from './byte-pairs.ts';
import { CHECKPOINTS, readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import { batchInputs, storyBatch, tokenizerTexts } from './story-batches.ts';
import { measureLoss } from './measure-loss.ts';
import { STORY_SIZES } from '../../../src/text/testing/story-sizes.ts';
import { openStoryTrainer } from './open-trainer.ts';

const SEED = 17;
const SHAPE = { rows: 8, length: 128 } as const;
const TOKENIZER_STORIES = 4000;
const PEAK_RATE = 4e-4;
/** More people, places and things than in ordinary stories: the last place that was named is seldom the answer. */
const MANY = { people: [3, 4], places: [4, 6], objects: [2, 3] } as const;
/** The first steps see plain stories only, where each answer has to be looked up. */
const PLAIN = {
  steps: 300,
  mix: { share: 1, cast: MANY, sentences: [3, 5], isPlain: true },
} as const;
/** All others see half of such stories, told like ordinary ones. */
const ALL = { share: 0.5, cast: MANY } as const;
const WARM_UP = 20;
const CHECK_EVERY = 50;
const CHECKED_ROWS = 16;
const SAVE_EVERY_MS = 150_000;

/** Rises in a line, holds, and falls along a cosine in the second half. */
function rateAt(step: number, steps: number): number {
  const falling = Math.max(0, (2 * step) / steps - 1);
  return PEAK_RATE * Math.min(1, step / WARM_UP) * (0.51 + 0.49 * Math.cos(Math.PI * falling));
}

const trainTokenizer = (): BytePairs =>
  trainBytePairs(tokenizerTexts(SEED, TOKENIZER_STORIES), STORY_SIZES.vocabulary);

export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      steps: { type: 'string', default: '2000' },
      threads: { type: 'string', default: '2' },
      resume: { type: 'boolean', default: false },
    },
  });
  const steps = Number(values.steps);
  mkdirSync(CHECKPOINTS, { recursive: true });
  const pairs = trainTokenizer();
  writeFileSync(join(CHECKPOINTS, 'tokenizer.json'), pairs.toJson());
  const threads = Number(values.threads);
  const spellings = pairs.spellings();
  const trainer = await openStoryTrainer(STORY_SIZES, { seed: SEED, spellings, threads, ...SHAPE });
  const earlier = values.resume ? readCheckpoint() : undefined;
  if (earlier !== undefined) trainer.load(earlier.steps, earlier.state);
  let seconds = earlier?.seconds ?? 0;
  log(`step ${trainer.steps} of ${steps}, ${pairs.tokens.length} tokens`);
  let [saved, checked, sum, count] = [performance.now(), performance.now(), 0, 0];
  while (trainer.steps < steps) {
    const step = trainer.steps + 1;
    const mix = step <= PLAIN.steps ? PLAIN.mix : ALL;
    const batch = storyBatch(SHAPE, { pairs, seed: SEED * 1_000_000 + step, mix });
    const { loss } = await trainer.step(batchInputs(batch, SHAPE), rateAt(step, steps));
    sum += loss;
    count++;
    const isLast = step === steps;
    if (step % CHECK_EVERY === 0 || isLast) {
      seconds += (performance.now() - checked) / 1000;
      const { heldOutLoss, answersRight, answers } = await measureLoss(
        trainer,
        pairs,
        CHECKED_ROWS,
      );
      log(
        `step ${step}  loss ${(sum / count).toFixed(3)}  held out ${heldOutLoss.toFixed(3)}  answers ${answersRight} of ${answers}  ${Math.round(seconds)} s`,
      );
      [checked, sum, count] = [performance.now(), 0, 0];
    }
    if (isLast || performance.now() - saved > SAVE_EVERY_MS) {
      const now = seconds + (performance.now() - checked) / 1000;
      writeCheckpoint({ steps: step, seconds: now, state: await trainer.save() });
      saved = performance.now();
    }
  }
  await trainer.dispose();
  return 0;
}

function log(line: string): void {
  console.log(line);
  appendFileSync(join(CHECKPOINTS, 'log.txt'), `${line}\n`);
}
