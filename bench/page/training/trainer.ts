import type { BenchDevice } from '../../cases/bench-case.ts';
import type { TrainingCase } from '../../training/training-cases.ts';

/** A runtime that has a case's parameters on its device. */
export interface Trainer {
  /** Uploads the batch, makes a step of Adam, and resolves to the loss before it. */
  step(): Promise<number>;
}

export interface TrainerOptions {
  readonly trainingCase: TrainingCase;
  readonly device: BenchDevice;
  readonly rate: number;
  /** The elements behind an address. */
  readonly elements: (url: string) => Float32Array;
}

export type OpenTrainer = (options: TrainerOptions) => Promise<Trainer>;
