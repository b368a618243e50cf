import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DeviceTensor, Session } from '../../client/index.ts';
import { seededRandom } from '../../core/random.ts';
import { DigitTrainer } from './digit-trainer.ts';
import { TRAINING_BATCH } from './digit-parameters.ts';
import { rateAt, TRAINING_STEPS } from './training-run.ts';
import { type DigitBatch, writeBatch } from './write-batch.ts';

const EXECUTABLE = readFileSync(
  new URL('../../../public/models/digit-training.weft', import.meta.url),
);
const OPTIONS = { device: 'wasm', worker: false } as const;
const STEPS = 24;

let session: Session;

beforeAll(async () => {
  session = await Session.load(EXECUTABLE, OPTIONS);
});
afterAll(() => session.dispose());

const batchOf = (step: number): DigitBatch => writeBatch(step, TRAINING_BATCH);

async function train(trainer: DigitTrainer, until: number): Promise<number[]> {
  const losses: number[] = [];
  while (trainer.steps < until) {
    const step = trainer.steps + 1;
    losses.push((await trainer.step(batchOf(step), rateAt(step))).loss);
  }
  return losses;
}

async function bitsOf(trainer: DigitTrainer): Promise<Record<string, number[]>> {
  const entries = Object.entries(trainer.tensors).map(async ([name, value]) => {
    const tensor = value instanceof DeviceTensor ? await value.read() : value;
    return [name, Array.from(tensor.data, Number)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

test('a network that knows nothing loses ln 10, and learns', async () => {
  const trainer = new DigitTrainer(session, seededRandom(1));
  const losses = await train(trainer, STEPS);
  expect(losses[0]).toBeGreaterThan(Math.log(10) - 0.3);
  expect(losses[0]).toBeLessThan(Math.log(10) + 0.7);
  expect(losses[STEPS - 1]).toBeLessThan(1.7);
  const heldOut = writeBatch(1_000_000, 200);
  expect(await trainer.evaluate(heldOut)).toBeGreaterThan(100);
});

test('a step follows the slope: a small one lowers the loss of its batch', async () => {
  const trainer = new DigitTrainer(session, seededRandom(2));
  const batch = batchOf(1);
  const first = await trainer.step(batch, 1e-4);
  const second = await trainer.step(batch, 1e-4);
  expect(second.loss).toBeLessThan(first.loss);
});

test('a training that is stored in the middle goes on as if nothing had been', async () => {
  const straight = new DigitTrainer(session, seededRandom(3));
  await train(straight, 4);

  const stopped = new DigitTrainer(session, seededRandom(3));
  await train(stopped, 2);
  await session.pause();
  const bytes = await session.snapshot({ tensors: { ...stopped.tensors } });
  await session.continue();
  const resumed = await Session.resume(bytes, { executable: EXECUTABLE, ...OPTIONS });
  const other = new DigitTrainer(resumed, seededRandom(4));
  await other.restore(2, resumed.resumed);
  await train(other, 4);
  expect(await bitsOf(other)).toEqual(await bitsOf(straight));
  await resumed.dispose();
});

test('the rate rises in a line and ends at nothing', () => {
  expect(rateAt(1)).toBeLessThan(rateAt(20));
  expect(rateAt(TRAINING_STEPS)).toBeCloseTo(0, 12);
  expect(Math.max(...Array.from({ length: TRAINING_STEPS }, (_, i) => rateAt(i + 1)))).toBeLessThan(
    3e-3,
  );
});
