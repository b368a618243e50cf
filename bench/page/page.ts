import type { BenchCase, RunName, RuntimeName } from '../cases/bench-case.ts';
import type { MachineCase } from '../cases/machine-cases.ts';
import { startFloor } from './floor.ts';
import { largestDifference } from './largest-difference.ts';
import type { MachineFigure, SizedProgram } from './machine-steps.ts';
import { measureCeilings } from './measure-ceilings.ts';
import { elements, type Output, type Running, type Start, typedElements } from './runtime.ts';

/** Each in a chunk of its own, so that a page transfers only what it uses. */
const STARTS: Readonly<Record<RuntimeName, () => Promise<{ start: Start }>>> = {
  weft: () => import('./weft.ts'),
  onnxruntime: () => import('./onnxruntime.ts'),
  tensorflow: () => import('./tensorflow.ts'),
  jax: () => import('./jax.ts'),
};

export interface ColdStart {
  /** From nothing loaded to the first result in the page, in milliseconds. */
  readonly totalMs: number;
  /** Milliseconds of the parts that the runtime lets one see. */
  readonly parts: readonly (readonly [string, number])[];
}

export interface ColdOptions {
  readonly isAheadOfTime: boolean;
}

interface Started extends Running {
  first: readonly Output[];
}

const started = new Map<RunName, Started>();

/** What the terminal calls in the page, one step at a time. */
const steps = {
  /** Fetches the elements of all tensors. */
  async prepare({ inputs, weights, expected }: BenchCase): Promise<void> {
    await Promise.all(
      [...inputs, ...weights, ...expected].map(async ({ url }) => {
        elements.set(url, await (await fetch(url)).arrayBuffer());
      }),
    );
  },

  /** Loads a runtime and runs the case once. */
  async start(
    name: RuntimeName,
    benchCase: BenchCase,
    { isAheadOfTime }: ColdOptions,
  ): Promise<ColdStart> {
    const parts: [string, number][] = [];
    const begin = performance.now();
    const { start } = await STARTS[name]();
    const running = await start(benchCase, {
      isAheadOfTime,
      part: (part, ms) => void parts.push([part, ms]),
    });
    const ready = performance.now();
    const first = await running.run();
    const end = performance.now();
    parts.push(['first run', end - ready]);
    started.set(name, { ...running, first });
    return { totalMs: end - begin, parts };
  },

  /** Makes the run that is nothing but transfer and launches; Weft was started before. */
  async startFloor(benchCase: BenchCase, launches: number): Promise<void> {
    const running = await startFloor(benchCase, lastOutputs('weft'), launches);
    started.set('floor', { ...running, first: [] });
  },

  /** Runs untimed, for so long or so often, that code is compiled and memory is at hand. */
  async warm(name: RunName, limit: { readonly ms: number; readonly runs: number }): Promise<void> {
    const begin = performance.now();
    for (let i = 0; i < limit.runs && performance.now() - begin < limit.ms; i++) {
      await steps.run(name);
    }
  },

  /** One warm run, in milliseconds. */
  async run(name: RunName): Promise<number> {
    const running = started.get(name);
    if (running === undefined) throw new Error(`internal: ${name} was not started`);
    const begin = performance.now();
    running.first = await running.run();
    return performance.now() - begin;
  },

  /**
   * Largest difference of a runtime's last outputs from what the model's author says, or from Weft's
   * where nobody says anything, over the range of the latter.
   */
  compare(name: RuntimeName, { expected }: BenchCase): number {
    const published = expected.map((tensor) => ({
      data: typedElements(tensor),
      shape: tensor.shape,
    }));
    return largestDifference(
      lastOutputs(name),
      published.length > 0 ? published : lastOutputs('weft'),
    );
  },

  /** Figures of the machine itself. */
  async machine(
    name: MachineCase,
    programs: readonly SizedProgram[],
  ): Promise<readonly MachineFigure[]> {
    const steps = await import('./machine-steps.ts');
    const measures = {
      'launch-overhead': steps.launchOverhead,
      'allocator-churn': steps.allocatorChurn,
      interpretation: steps.interpretation,
      'load-time': steps.loadTime,
    };
    return measures[name](programs);
  },

  ceilings: measureCeilings,
};

function lastOutputs(name: RuntimeName): readonly Output[] {
  const running = started.get(name);
  if (running === undefined) throw new Error(`internal: ${name} was not started`);
  return running.canonical?.(running.first) ?? running.first;
}

export type BenchSteps = typeof steps;

declare global {
  var bench: BenchSteps;
}
globalThis.bench = steps;
