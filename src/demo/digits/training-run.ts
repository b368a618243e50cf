import type { Profile } from '../../client/index.ts';
import type { PlotPoint } from '../sections/line-plot.ts';
import type { DigitTrainer } from './digit-trainer.ts';
import { TRAINING_BATCH } from './digit-parameters.ts';
import type { DigitBatch } from './write-batch.ts';

/** Steps of a whole training. */
export const TRAINING_STEPS = 300;
/** Digits that no step sees; the accuracy at the end is measured on them. */
export const HELD_OUT = 2000;

const PEAK_RATE = 3e-3;
const WARM_STEPS = 40;
/** Steps between two measurements of the accuracy, and digits of each. */
const CHECK_EVERY = 20;
const CHECK_COUNT = 250;
/** Seeds of held-out digits begin here, those of steps are below. */
const HELD_OUT_SEED = 1_000_000;

/** Writes digits; see digit-writer-worker.ts. */
export interface BatchSource {
  write(seed: number, count: number): Promise<DigitBatch>;
}

/** The course of a training, as plots show it and snapshots note it. */
export interface TrainingCourse {
  readonly loss: readonly PlotPoint[];
  readonly accuracy: readonly PlotPoint[];
  /** The accuracy on all held-out digits, once the training is over. */
  readonly reached: number | undefined;
}

/** The course before anything was trained. */
export const EMPTY_COURSE: TrainingCourse = { loss: [], accuracy: [], reached: undefined };

/** The learning rate of a step, from 1: up in a line, and down to 0 in half a cosine. */
export function rateAt(step: number): number {
  const warm = Math.min(1, step / WARM_STEPS);
  return PEAK_RATE * warm * (0.5 + 0.5 * Math.cos((Math.PI * step) / TRAINING_STEPS));
}

/** Trains in steps; the caller decides after each whether to go on. */
export class TrainingRun {
  course: TrainingCourse = EMPTY_COURSE;
  readonly #trainer: DigitTrainer;
  readonly #source: BatchSource;
  #nextBatch: { readonly step: number; readonly batch: Promise<DigitBatch> } | undefined;

  constructor(trainer: DigitTrainer, source: BatchSource) {
    this.#trainer = trainer;
    this.#source = source;
  }

  get isOver(): boolean {
    return this.course.reached !== undefined;
  }

  /**
   * One step, with a measurement now and then; the last one measures all held-out digits. `onProfile`: the step is
   * profiled.
   */
  async advance(onProfile?: (profile: Profile) => void): Promise<void> {
    // A page that was closed while it measured at the end goes on there.
    if (this.#trainer.steps < TRAINING_STEPS) await this.#step(onProfile);
    if (this.#trainer.steps < TRAINING_STEPS) return;
    this.course = { ...this.course, reached: await this.#measure(HELD_OUT) };
  }

  /** The digits of the next step are written while the device computes. */
  async #step(onProfile: ((profile: Profile) => void) | undefined): Promise<void> {
    const step = this.#trainer.steps + 1;
    const batch = await this.#batchOf(step);
    if (step < TRAINING_STEPS) void this.#batchOf(step + 1);
    const { loss } = await this.#trainer.step(batch, rateAt(step), onProfile);
    this.course = { ...this.course, loss: [...this.course.loss, { step, value: loss }] };
    if (step % CHECK_EVERY !== 0) return;
    const value = await this.#measure(CHECK_COUNT);
    this.course = { ...this.course, accuracy: [...this.course.accuracy, { step, value }] };
  }

  /** The share of the first held-out digits that are read right. */
  async #measure(count: number): Promise<number> {
    let right = 0;
    for (let done = 0; done < count; done += CHECK_COUNT) {
      const batch = await this.#source.write(HELD_OUT_SEED + done, CHECK_COUNT);
      right += await this.#trainer.evaluate(batch);
    }
    return right / count;
  }

  #batchOf(step: number): Promise<DigitBatch> {
    if (this.#nextBatch?.step !== step) {
      this.#nextBatch = { step, batch: this.#source.write(step, TRAINING_BATCH) };
    }
    return this.#nextBatch.batch;
  }
}
