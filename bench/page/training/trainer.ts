import type { BenchDevice } from '../../cases/bench-case.ts';
import type { TrainingCase } from '../../training/training-cases.ts';

export type Gradients = Readonly<Record<string, Float32Array>>;

/** Adam begins with moments of 0: the first step leaves so much of a gradient in its mean. */
export const FIRST_SHARE = 0.1;

/** A runtime that has a case's parameters on its device. */
export interface Trainer {
  /** Uploads the batch, makes a step of Adam, and resolves to the loss before it. */
  step(): Promise<number>;
  /** Of the loss by each parameter, in the first step: to be asked for behind it. */
  gradients?(): Promise<Gradients>;
}

interface TrainerOptions {
  readonly trainingCase: TrainingCase;
  readonly device: BenchDevice;
  readonly rate: number;
  /** The elements behind an address. */
  readonly elements: (url: string) => Float32Array;
}

export type OpenTrainer = (options: TrainerOptions) => Promise<Trainer>;
