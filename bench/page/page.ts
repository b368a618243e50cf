import type { RunName } from '../cases/bench-case.ts';
import type { MachineCase } from '../cases/machine-cases.ts';
import { ContestantSteps, type Starts } from './contestant-steps.ts';
import { startCopy } from './copy-floor.ts';
import { startFloor } from './floor.ts';
import type { MachineFigure, SizedProgram } from './machine-steps.ts';
import { measureCeilings } from './measure-ceilings.ts';
import type { REGISTER_OPERATIONS } from './register-operations.ts';
import type { TrainingFigures, TrainingRequest } from './training/measure-training.ts';
import type { Start } from './runtime.ts';

const startWeft = async (): Promise<Start> => (await import('./weft.ts')).start;
const startLoop = (name: keyof typeof REGISTER_OPERATIONS) => async (): Promise<Start> => {
  const { startRegisterLoop } = await import('./register-loops.ts');
  return () => Promise.resolve(startRegisterLoop(name));
};

const STARTS: Starts & Readonly<Record<RunName, () => Promise<Start>>> = {
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
  const outputs = await contestants.lastOutputs('weft');
  return device === 'webgpu'
    ? startFloor(benchCase, outputs, launches)
    : startCopy(benchCase, outputs);
};

const contestants = new ContestantSteps(STARTS);

/** Functions that the terminal calls in the page, one step at a time. */
const steps = {
  prepare: (...given: Parameters<ContestantSteps['prepare']>) => contestants.prepare(...given),
  start: (...given: Parameters<ContestantSteps['start']>) => contestants.start(...given),
  warm: (...given: Parameters<ContestantSteps['warm']>) => contestants.warm(...given),
  run: (...given: Parameters<ContestantSteps['run']>) => contestants.run(...given),
  compare: (...given: Parameters<ContestantSteps['compare']>) => contestants.compare(...given),

  /** Figures of the machine itself. */
  async machine(
    name: MachineCase,
    programs: readonly SizedProgram[],
  ): Promise<readonly MachineFigure[]> {
    const steps = await import('./machine-steps.ts');
    const { readback } = await import('./readback.ts');
    const measures = {
      'launch-overhead': steps.launchOverhead,
      'allocator-churn': steps.allocatorChurn,
      interpretation: steps.interpretation,
      'load-time': steps.loadTime,
      readback,
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

type BenchSteps = typeof steps;

declare global {
  var bench: BenchSteps;
}
globalThis.bench = steps;
