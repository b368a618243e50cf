import type { BenchCase, RunName } from '../cases/bench-case.ts';
import type { MachineCase } from '../cases/machine-cases.ts';
import { startCopy } from './copy-floor.ts';
import { startFloor } from './floor.ts';
import { largestDifference } from './largest-difference.ts';
import type { MachineFigure, SizedProgram } from './machine-steps.ts';
import { measureCeilings } from './measure-ceilings.ts';
import type { REGISTER_OPERATIONS } from './register-operations.ts';
import type { TrainingFigures, TrainingRequest } from './training/measure-training.ts';
import {
  elements,
  type Output,
  type Running,
  type Start,
  type StartRequest,
  typedElements,
} from './runtime.ts';

const startWeft = async (): Promise<Start> => (await import('./weft.ts')).start;
const startLoop = (name: keyof typeof REGISTER_OPERATIONS) => async (): Promise<Start> => {
  const { startRegisterLoop } = await import('./register-loops.ts');
  return () => Promise.resolve(startRegisterLoop(name));
};

/** Each in a chunk of its own, so that a page transfers only what it uses. */
const STARTS: Readonly<Record<RunName, () => Promise<Start>>> = {
  weft: startWeft,
  'weft-resident': startWeft,
  'weft-float32': startWeft,
  'weft-one-thread': startWeft,
  onnxruntime: async () => (await import('./onnxruntime.ts')).start,
  tensorflow: async () => (await import('./tensorflow.ts')).start,
  jax: async () => (await import('./jax.ts')).start,
  floor: () => Promise.resolve(startFloorOf),
  'multiply-adds': startLoop('multiply-adds'),
  'byte-products': startLoop('byte-products'),
};

/** Makes the run that is nothing but transfer and launches, or copying; Weft was started before. */
const startFloorOf: Start = async (benchCase, { device, launches }) => {
  const outputs = await lastOutputs('weft');
  return device === 'webgpu'
    ? startFloor(benchCase, outputs, launches)
    : startCopy(benchCase, outputs);
};

export interface ColdStart {
  /** From nothing loaded to the first result in the page, in milliseconds. */
  readonly totalMs: number;
  /** Milliseconds of the parts that the runtime lets one see. */
  readonly parts: readonly (readonly [string, number])[];
}

interface Started extends Running {
  first: readonly Output[];
  /** Runs between two looks at the clock. */
  loops: number;
}

const started = new Map<RunName, Started>();

/** Functions that the terminal calls in the page, one step at a time. */
const steps = {
  /** Fetches the elements of all tensors. */
  async prepare({ inputs, weights, expected, float32 }: BenchCase): Promise<void> {
    await Promise.all(
      [...inputs, ...weights, ...expected, ...(float32?.inputs ?? [])].map(async ({ url }) => {
        elements.set(url, await (await fetch(url)).arrayBuffer());
      }),
    );
  },

  /** Loads a runtime and runs the case once. */
  async start(name: RunName, benchCase: BenchCase, request: StartRequest): Promise<ColdStart> {
    await started.get(name)?.stop?.();
    const parts: [string, number][] = [];
    const begin = performance.now();
    const start = await STARTS[name]();
    const running = await start(benchCase, {
      ...request,
      part: (part, ms) => void parts.push([part, ms]),
    });
    const ready = performance.now();
    const first = await running.run();
    const end = performance.now();
    parts.push(['first run', end - ready]);
    started.set(name, { ...running, first, loops: 1 });
    return { totalMs: end - begin, parts };
  },

  /**
   * Runs untimed, for so long or so often, that code is compiled and memory is at hand. Resolves to the
   * time of the fastest run.
   */
  async warm(
    name: RunName,
    limit: { readonly ms: number; readonly runs: number },
  ): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    const begin = performance.now();
    for (let i = 0; i < limit.runs && performance.now() - begin < limit.ms; i++) {
      least = Math.min(least, await steps.run(name, 0));
    }
    return least;
  },

  /** Milliseconds of a warm run: the mean of so many as take `leastMs`, at least one. */
  async run(name: RunName, leastMs: number): Promise<number> {
    const running = started.get(name);
    if (running === undefined) throw new Error(`internal: ${name} was not started`);
    let count = 0;
    const begin = performance.now();
    let taken = 0;
    do {
      for (let i = 0; i < running.loops; i++) running.first = await running.run();
      count += running.loops;
      taken = performance.now() - begin;
    } while (taken < leastMs);
    // Few looks at the clock, and no loop that is much longer than it has to be.
    if (leastMs > 0) running.loops = Math.max(1, Math.floor((count * leastMs) / taken / 2));
    return taken / count;
  },

  /**
   * Largest difference of a runtime's last outputs from what the model's author says, or from Weft's
   * where nobody says anything, over the range of the latter.
   */
  async compare(name: RunName, { expected }: BenchCase): Promise<number> {
    const published = expected.map((tensor) => ({
      data: typedElements(tensor),
      shape: tensor.shape,
    }));
    return largestDifference(
      await lastOutputs(name),
      published.length > 0 ? published : await lastOutputs('weft'),
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
      'round-trip': steps.roundTrip,
      'state-step': steps.stateSteps('change', ['webgpu']),
      'state-step-processor': steps.stateSteps('change', ['wasm', 'host']),
      'state-append': steps.stateSteps('append', ['webgpu']),
      'state-append-processor': steps.stateSteps('append', ['wasm', 'host']),
      'state-append-heads': steps.stateSteps('append heads', ['webgpu']),
      'state-append-heads-processor': steps.stateSteps('append heads', ['wasm', 'host']),
    };
    return measures[name](programs);
  },

  /** Steps of training of all runtimes. */
  async training(request: TrainingRequest): Promise<Record<string, TrainingFigures>> {
    return (await import('./training/measure-training.ts')).measureTraining(request);
  },

  ceilings: measureCeilings,
};

async function lastOutputs(name: RunName): Promise<readonly Output[]> {
  const running = started.get(name);
  if (running === undefined) throw new Error(`internal: ${name} was not started`);
  const outputs = (await running.read?.()) ?? running.first;
  return running.canonical?.(outputs) ?? outputs;
}

export type BenchSteps = typeof steps;

declare global {
  var bench: BenchSteps;
}
globalThis.bench = steps;
