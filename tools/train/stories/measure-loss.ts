import type { BytePairs } from './byte-pairs.ts';
import { ANSWER_WEIGHT, batchInputs, storyBatch } from './story-batches.ts';
import type { Trainer } from '../trainer.ts';
import { STORY_SIZES } from '../../../src/text/testing/story-sizes.ts';

const SEED = 99;
const LENGTH = 128;

interface LossReport {
  /** Mean over all tokens of stories, in nats, all weighing the same. */
  readonly heldOutLoss: number;
  readonly answersRight: number;
  readonly answers: number;
}

/**
 * The loss on stories that no step saw, and how many answers are the likeliest token by token: a greedy
 * answer is right if and only if each of its tokens is the likeliest after the right ones before it.
 */
export async function measureLoss(
  trainer: Trainer,
  pairs: BytePairs,
  rows: number,
): Promise<LossReport> {
  const batch = storyBatch({ rows, length: LENGTH }, { pairs, seed: SEED, side: 'held out' });
  const { tokens, stories } = batchInputs(batch, { rows, length: LENGTH });
  const logits = await trainer.evaluate('logits', { tokens, stories });
  const least = batch.shares.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), Infinity);
  const isAnswer = (i: number): boolean =>
    (batch.shares[i] ?? 0) > (least * (1 + ANSWER_WEIGHT)) / 2;
  let [loss, count, right, answers] = [0, 0, 0, 0];
  let isRight = true;
  for (let i = 0; i < batch.tokens.length; i++) {
    if (batch.shares[i] === 0) continue;
    const row = logits.subarray(i * STORY_SIZES.vocabulary, (i + 1) * STORY_SIZES.vocabulary);
    const target = batch.targets[i] ?? 0;
    loss -= logProbability(row, target);
    count++;
    if (!isAnswer(i)) continue;
    isRight &&= likeliest(row) === target;
    if (isAnswer(i + 1)) continue;
    answers++;
    if (isRight) right++;
    isRight = true;
  }
  return { heldOutLoss: loss / count, answersRight: right, answers };
}

export const likeliest = (logits: Float32Array): number => logits.indexOf(Math.max(...logits));

function logProbability(logits: Float32Array, token: number): number {
  const most = Math.max(...logits);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return (logits[token] ?? -Infinity) - most - Math.log(sum);
}
