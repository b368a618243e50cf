import { type Inputs, type OutputValue, Session, Tensor } from '../../src/client/index.ts';
import { randomInputs } from '../../src/client/values/random-inputs.ts';
import { seededRandom } from '../../src/core/random.ts';
import type { KernelTuning } from '../../src/worker/protocol/control-request.ts';
import {
  type BenchCase,
  type BenchDevice,
  CASE_TYPES,
  type CaseTensor,
} from '../cases/bench-case.ts';
import { startRequest } from '../contestants.ts';
import { METHODS } from '../methods.ts';
import { ContestantSteps } from '../page/contestant-steps.ts';
import { elements, sourceAt } from '../page/runtime.ts';
import { start } from '../page/weft.ts';
import { Race, type RuntimeResult } from '../race.ts';

/** A whole model of the demo. */
interface ReportModel {
  readonly name: string;
  readonly title: string;
  /** Sizes of its symbolic dimensions. */
  readonly dims: Readonly<Record<string, number>>;
}

export const REPORT_MODELS: readonly ReportModel[] = [
  { name: 'digits', title: 'digits, a convolutional network of 28x28', dims: {} },
  { name: 'detector', title: 'detector, 22 kernels, boxes in 48x48', dims: {} },
  {
    name: 'transformer',
    title: 'decoder of two layers, 64 tokens behind 64',
    dims: { batch: 1, sequence: 64, past: 64 },
  },
];

/** Outputs may be apart by a thousandth of their range. */
const TOLERANCE = 1e-3;

/** A model with random inputs, and what the host device computes of them, ready for a race. */
async function modelCase(model: ReportModel): Promise<BenchCase> {
  const { name } = model;
  const address = new URL(`models/${name}.weft`, document.baseURI).href;
  const bytes = elements.get(address) ?? (await fetchBytes(address));
  elements.set(address, bytes);
  await using session = await Session.load(bytes, { device: 'host' });
  const inputs = modelInputs(session, model);
  const outputs = await session.run<OutputValue>(inputs);
  return {
    name,
    model: address,
    executable: address,
    inputs: Object.entries(inputs).flatMap(([key, value]) => place(`${name}/in/${key}`, value)),
    weights: [],
    expected: Object.entries(outputs).flatMap(([key, value]) => place(`${name}/out/${key}`, value)),
    tolerance: TOLERANCE,
  };
}

/** The same inputs for every session of a model. */
const modelInputs = (session: Session, { dims }: ReportModel): Inputs =>
  randomInputs(session.inputs, new Map(Object.entries(dims)), seededRandom(1));

async function fetchBytes(address: string): Promise<ArrayBuffer> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: got status ${response.status}`);
  return response.arrayBuffer();
}

/** Gives the elements of a tensor an address. */
function place(url: string, value: unknown): CaseTensor[] {
  if (!(value instanceof Tensor)) throw new Error(`internal: ${url} is no tensor`);
  const { dtype, shape, data } = value;
  const known = CASE_TYPES.find((name) => name === dtype);
  if (known === undefined) throw new Error(`internal: ${url} has dtype ${dtype}`);
  elements.set(url, data.slice().buffer);
  return [{ dtype: known, shape, url }];
}

/** A warm run of a whole model: inputs and outputs in the page. */
export interface ModelTime {
  readonly name: string;
  readonly title: string;
  readonly device: BenchDevice;
  readonly result: RuntimeResult;
}

/** Of the time of a section that one race may take. */
const RACE_MS = 8000;

/** The models on WebGPU, and on the processor beside it. */
export async function timeModel(model: ReportModel, device: BenchDevice): Promise<ModelTime> {
  const { name, title } = model;
  return { name, title, device, result: await timeCase(await modelCase(model), device) };
}

async function timeCase(benchCase: BenchCase, device: BenchDevice): Promise<RuntimeResult> {
  const steps = new ContestantSteps({ weft: () => Promise.resolve(start) });
  const method = { ...METHODS[device], budgetMs: RACE_MS };
  const race = new Race(steps, { method, runs: method.rounds });
  try {
    const request = startRequest({ device, threads: 1 });
    await race.enter({ name: 'weft', benchCase, request });
    await race.run();
    const { weft } = await race.finish(benchCase);
    return weft ?? { failure: 'no result' };
  } finally {
    await steps.stop('weft');
  }
}

/** The result of tuning a model, and the model's time with it. */
export interface ModelTuning {
  readonly name: string;
  /** False when there was no time for all kernels. */
  readonly isComplete: boolean;
  readonly kernels: readonly KernelTuning[];
  readonly after: RuntimeResult;
}

interface TuneLimits {
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Ends tuning; what was found by then is kept. */
  readonly limitMs: number;
}

/** Tunes the kernels of a model for the sizes of the report. Rejects with the reason of the signal. */
export async function tuneModel(
  model: ReportModel,
  { signal, limitMs }: TuneLimits,
): Promise<ModelTuning> {
  const { executable } = await modelCase(model);
  await using session = await Session.load(sourceAt(executable), { device: 'webgpu' });
  await session.run(modelInputs(session, model));
  const kernels: KernelTuning[] = [];
  const timeout = AbortSignal.timeout(Math.max(0, limitMs));
  const isComplete = await session
    .tune({
      signal: AbortSignal.any([signal, timeout]),
      onProgress: ({ kernels: done }) => kernels.push(...done),
    })
    .then(
      (report) => {
        kernels.splice(0, Infinity, ...report.kernels);
        return true;
      },
      (error: unknown) => {
        signal.throwIfAborted();
        if (timeout.aborted) return false;
        throw error;
      },
    );
  const { result } = await timeModel(model, 'webgpu');
  return { name: model.name, isComplete, kernels, after: result };
}
