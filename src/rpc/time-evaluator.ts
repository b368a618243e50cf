import { abortError } from '../core/errors.ts';
import type { VirtualMachine } from '../runtime/virtual-machine.ts';
import type { Value } from '../runtime/values/value.ts';

/** How often a function is run for a measurement. */
export interface TimeOptions {
  /** Runs of one repeat. Default: 1. */
  readonly number?: number | undefined;
  /** Measurements. Default: 3. */
  readonly repeat?: number | undefined;
  /** `number` is raised until a repeat takes so long. Default: 0. */
  readonly minRepeatMs?: number | undefined;
}

/** Milliseconds of one run, as TVM's `time_evaluator` measures them. */
export interface TimeResult {
  /** One for each repeat: its time divided by its runs, until the device is idle. */
  readonly results: readonly number[];
  /** The mean of `results`. */
  readonly mean: number;
  /** The median of `results`. */
  readonly median: number;
  /** The standard deviation of `results`. */
  readonly standardDeviation: number;
  /** Runs of one repeat in the end. */
  readonly number: number;
  /** Kernels alone, by the adapter's timestamps, of one run; undefined where it has none. */
  readonly kernelMs: number | undefined;
}

/** Runs something and waits until its work is done. */
export interface Measured {
  run(): Promise<void>;
  synchronize(): Promise<void>;
  /** Milliseconds of the kernels of one run. */
  kernelMs(): Promise<number | undefined>;
}

/** The first run, which plans, is not measured. */
export async function measure(
  measured: Measured,
  { number = 1, repeat = 3, minRepeatMs = 0 }: TimeOptions,
  signal: AbortSignal,
): Promise<TimeResult> {
  await measured.run();
  await measured.synchronize();
  let runs = Math.max(1, number);
  const results: number[] = [];
  while (results.length < repeat) {
    const begin = performance.now();
    for (let i = 0; i < runs; i++) {
      if (signal.aborted) throw abortError(signal);
      await measured.run();
    }
    await measured.synchronize();
    const elapsed = performance.now() - begin;
    if (elapsed < minRepeatMs && results.length === 0) {
      runs = raised(runs, elapsed, minRepeatMs);
      continue;
    }
    results.push(elapsed / runs);
  }
  return { ...statistics(results), number: runs, kernelMs: await measured.kernelMs() };
}

function raised(runs: number, elapsed: number, wanted: number): number {
  const estimate = Math.ceil((runs * wanted * 1.1) / Math.max(elapsed, 1e-3));
  return Math.max(runs + 1, Math.min(estimate, runs * 16));
}

function statistics(
  results: readonly number[],
): Pick<TimeResult, 'results' | 'mean' | 'median' | 'standardDeviation'> {
  const sorted = [...results].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? upper) + upper) / 2;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / sorted.length;
  return { results, mean, median, standardDeviation: Math.sqrt(variance) };
}

/** A function of a machine with arguments that are there already. */
export function measuredFunction(
  machine: VirtualMachine,
  name: string,
  { args, synchronize }: { args: readonly Value[]; synchronize: () => Promise<void> },
): Measured {
  return {
    run: async () => machine.release(await machine.invoke(name, args)),
    synchronize,
    kernelMs: async () => {
      const { result, timings } = await machine.profile(name, args);
      machine.release(result);
      let total = 0;
      for (const { durationMs } of timings) {
        if (durationMs === undefined) return undefined;
        total += durationMs;
      }
      return timings.length === 0 ? undefined : total;
    },
  };
}
