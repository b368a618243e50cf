import type { BenchDevice, RunName } from '../cases/bench-case.ts';
import type { MachineCase, SizedProgram } from '../cases/machine-cases.ts';
import { ContestantSteps, type Starts } from './contestant-steps.ts';
import { startCopy, startFloor } from './floor.ts';
import type { MachineFigure } from './machine-steps.ts';
import { measureCeilings } from './measure-ceilings.ts';
import type { REGISTER_OPERATIONS } from './register-operations.ts';
import type { Start } from './runtime.ts';

type Starting = () => Promise<{ readonly start: Start }>;

/** Starts a runtime with a case, or with the steps of one that is trained. */
const runtime = (load: Starting, train: Starting) => (): Promise<Start> =>
  Promise.resolve(async (benchCase, options) => {
    const { start } = await (benchCase.training === undefined ? load() : train());
    return start(benchCase, options);
  });
const startWeft = runtime(
  () => import('./weft.ts'),
  () => import('./training.ts'),
);
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
  tensorflow: runtime(
    () => import('./tensorflow.ts'),
    () => import('./train-tensorflow.ts'),
  ),
  jax: runtime(
    () => import('./jax.ts'),
    () => import('./train-jax.ts'),
  ),
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

/** Functions that the terminal calls in the page beside the steps of a race, one at a time. */
const more = {
  /** Figures of the machine itself. */
  async machine(
    name: MachineCase,
    ...given: readonly [readonly SizedProgram[], BenchDevice]
  ): Promise<readonly MachineFigure[]> {
    return (await import('./machine-steps.ts')).MEASURES[name](...given);
  },
  /** Steps of text generation. */
  text: () => import('./text.ts'),
  ceilings: measureCeilings,
};

declare global {
  var bench: ContestantSteps & typeof more;
}
globalThis.bench = Object.assign(contestants, more);
