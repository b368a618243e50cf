import type { BenchDevice } from '../../cases/bench-case.ts';
import type { TrainingCase } from '../../training/training-cases.ts';
import { attributeMemory, peakBytes } from './count-memory.ts';
import type { Gradients, OpenTrainer, Trainer } from './trainer.ts';

/** Runtimes that train. */
export type TrainingRuntime = 'weft' | 'jax' | 'tensorflow';

/** A runtime's figures of one case, or why it has none. */
export type TrainingFigures =
  | {
      /** Of one step, the batch uploaded and the loss read. */
      readonly medianMs: number;
      readonly leastMs: number;
      readonly peakBytes: number;
      /** Before each of the first steps. */
      readonly losses: readonly number[];
      /** How far the gradients of the first step are from Weft's, for who has both. */
      readonly apart?: GradientDistance | undefined;
    }
  | { readonly failure: string };

/** The parameter whose gradients differ most, by the norm of the difference over that of Weft's. */
export interface GradientDistance {
  readonly parameter: string;
  readonly relative: number;
}

const OPEN: Readonly<Record<TrainingRuntime, () => Promise<OpenTrainer>>> = {
  weft: async () => (await import('./weft.ts')).openWeft,
  jax: async () => (await import('./jax.ts')).openJax,
  tensorflow: async () => (await import('./tensorflow.ts')).openTensorFlow,
};

/** Steps before anything is timed; their losses are compared. */
const WARM_STEPS = 5;
/** A runtime that took so long for the first of them makes no more, and so for all rounds together. */
const LIMIT_MS = 40_000;

export interface TrainingRequest {
  readonly trainingCase: TrainingCase;
  readonly device: BenchDevice;
  readonly rate: number;
  readonly runtimes: readonly TrainingRuntime[];
  readonly rounds: number;
}

interface Started {
  readonly trainer: Trainer;
  readonly losses: readonly number[];
  readonly apart: GradientDistance | undefined;
  readonly ms: number[];
}

/** Steps of all runtimes by turns, in one page. */
export async function measureTraining(
  request: TrainingRequest,
): Promise<Record<string, TrainingFigures>> {
  const { trainingCase, runtimes, rounds } = request;
  const elements = await fetchAll(trainingCase);
  const figures: Record<string, TrainingFigures> = {};
  const started = new Map<TrainingRuntime, Started>();
  let own: Gradients | undefined;
  for (const name of runtimes) {
    attributeMemory(name);
    try {
      const open = await OPEN[name]();
      const trainer = await open({ ...request, elements });
      const begin = performance.now();
      const losses = [await trainer.step()];
      const gradients = await trainer.gradients?.();
      const apart = own && gradients && largestDistance(own, gradients);
      if (name === 'weft') own = gradients;
      while (losses.length < WARM_STEPS && performance.now() - begin < LIMIT_MS) {
        losses.push(await trainer.step());
      }
      started.set(name, { trainer, losses, apart, ms: [] });
    } catch (error) {
      figures[name] = { failure: error instanceof Error ? error.message : String(error) };
    }
  }
  const begin = performance.now();
  for (let round = 0; round < rounds && performance.now() - begin < LIMIT_MS; round++) {
    for (const [name, { trainer, ms }] of started) {
      attributeMemory(name);
      const before = performance.now();
      await trainer.step();
      ms.push(performance.now() - before);
    }
  }
  for (const [name, { losses, apart, ms }] of started) {
    const sorted = ms.toSorted((a, b) => a - b);
    figures[name] = {
      medianMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
      leastMs: sorted[0] ?? Number.NaN,
      peakBytes: peakBytes(name),
      losses,
      apart,
    };
  }
  return figures;
}

function largestDistance(own: Gradients, other: Gradients): GradientDistance {
  const distances = Object.entries(own).map(([parameter, values]): GradientDistance => {
    const theirs = other[parameter] ?? new Float32Array();
    let [difference, size] = [0, 0];
    for (const [i, value] of values.entries()) {
      difference += (value - (theirs[i] ?? Number.NaN)) ** 2;
      size += value ** 2;
    }
    return { parameter, relative: Math.sqrt(difference / size) };
  });
  // NaN is a larger distance than any number.
  return distances.reduce((worst, each) => (each.relative <= worst.relative ? worst : each));
}

async function fetchAll({
  parameters,
  x,
  targets,
}: TrainingCase): Promise<(url: string) => Float32Array> {
  const urls = [...Object.values(parameters), x, targets].map(({ url }) => url);
  const pairs = urls.map(async (url) => {
    const response = await fetch(url);
    return [url, new Float32Array(await response.arrayBuffer())] as const;
  });
  const elements = new Map(await Promise.all(pairs));
  return (url) => elements.get(url) ?? new Float32Array();
}
