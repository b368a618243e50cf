import { type OutputValue, Session } from '../../src/client/index.ts';
import type { SessionProvider } from '../../src/worker/protocol/session-service.ts';
import { type DType, dtypeInfo } from '../../src/core/tensor/dtype.ts';
import { ShapeError, UnsupportedError } from '../../src/core/errors.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { firstDifference } from '../../src/core/tensor/all-close.ts';
import {
  bindFromInputs,
  type CaseFiles,
  type DataSetFiles,
  type ModelSummary,
  type Outcome,
  type ReadFile,
  readValues,
  reasonOf,
  summarizeModel,
} from './conformance-case.ts';
import {
  asInput,
  type CaseValue,
  differenceOf,
  fromOutput,
} from '../../src/testing/case-values.ts';
import { quantizedDifference } from './quantized-difference.ts';
import { unboundModel } from './unbound-model.ts';

export interface RunCaseOptions {
  readonly device: 'auto' | 'webgpu' | 'wasm' | 'host';
  readonly worker: boolean;
  readonly read: ReadFile;
  /** The WebGPU to use without a worker. */
  readonly gpu?: GPU;
  /** In the place of those of this thread. */
  readonly remote?: SessionProvider;
  /** Without the sizes that the model says and those of its data: what cannot be so is skipped. */
  readonly unbound?: boolean;
}

/** Nothing that finishes takes so long; it only keeps one hanging case from hiding the others. */
const LIMIT_MS = 300_000;

/** Runs all data sets of a case through the public Session. Never rejects. */
export async function runCase(files: CaseFiles, options: RunCaseOptions): Promise<Outcome[]> {
  let operators: readonly string[] = [];
  let runner: ModelRunner | undefined;
  const outcome = (dataSet: string, failure: string | undefined): Outcome => ({
    caseName: files.name,
    dataSet,
    status: failure === undefined ? 'passed' : runner?.isRefused === true ? 'skipped' : 'failed',
    reason: failure,
    operators,
    hostReason: runner?.hostReason,
    placements: runner?.placements,
  });
  try {
    const written = await options.read('model.onnx');
    const bytes = options.unbound === true ? unboundModel(written) : written;
    const model = summarizeModel(bytes);
    operators = model.operators;
    runner = new ModelRunner(bytes, model, options);
    const outcomes: Outcome[] = [];
    for (const dataSet of files.dataSets) {
      const failure = await runner.run(dataSet).catch(reasonOf);
      outcomes.push(outcome(dataSet.name, failure));
    }
    await runner.dispose();
    return outcomes;
  } catch (thrown) {
    return files.dataSets.map(({ name }) => outcome(name, reasonOf(thrown)));
  }
}

/** Keeps the session between data sets that bind the same dimensions. */
class ModelRunner {
  readonly #bytes: Uint8Array;
  readonly #model: ModelSummary;
  readonly #options: RunCaseOptions;
  #session: Session | undefined;
  #bound = '';
  /** True if the model is refused because it says no sizes. */
  isRefused = false;

  constructor(bytes: Uint8Array, model: ModelSummary, options: RunCaseOptions) {
    this.#bytes = bytes;
    this.#model = model;
    this.#options = options;
  }

  /** Resolves to why the data set fails, undefined when it passes. */
  async run({ inputs, outputs }: DataSetFiles): Promise<string | undefined> {
    const { read } = this.#options;
    const given = await readValues(inputs, this.#model.inputs, read);
    const expected = await readValues(outputs, this.#model.outputs, read);
    const session = await this.#load(given);
    const named = this.#model.inputs.flatMap(({ name }, index) => {
      const value = given[index];
      return value === undefined ? [] : [[name, asInput(value)] as const];
    });
    const results = await session.run<OutputValue>(Object.fromEntries(named), {
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    return compare(results, expected, this.#model);
  }

  get hostReason(): string | undefined {
    const device = this.#session?.device;
    if (device?.kind !== 'host') return undefined;
    return device.fallbackReason ?? 'the session runs there, as asked';
  }

  get placements(): Outcome['placements'] {
    return this.#session?.device.kind === 'host' ? undefined : this.#session?.placements;
  }

  async dispose(): Promise<void> {
    await this.#session?.dispose();
    this.#session = undefined;
  }

  async #load(given: readonly CaseValue[]): Promise<Session> {
    if (this.#options.unbound !== true) return this.#loadFor(bindFromInputs(this.#model, given));
    return this.#loadFor({}).catch((error: unknown) => {
      this.isRefused = error instanceof UnsupportedError || error instanceof ShapeError;
      throw error;
    });
  }

  async #loadFor(dims: Record<string, number>): Promise<Session> {
    const bound = JSON.stringify(dims);
    if (this.#session !== undefined && bound === this.#bound) return this.#session;
    await this.dispose();
    const { device, worker, gpu, remote } = this.#options;
    this.#session = await Session.load(this.#bytes.slice(), {
      device,
      worker,
      dims,
      signal: AbortSignal.timeout(LIMIT_MS),
      ...(remote === undefined ? { deviceTimeout: LIMIT_MS } : {}),
      ...(gpu === undefined ? {} : { gpu }),
      ...(remote === undefined ? {} : { remote }),
    });
    this.#bound = bound;
    return this.#session;
  }
}

function compare(
  results: Readonly<Record<string, OutputValue>>,
  expected: readonly CaseValue[],
  { outputs, isQuantized, isRandom }: ModelSummary,
): string | undefined {
  const ofTensors = (actual: HostTensor, wanted: HostTensor): string | undefined => {
    if (isRandom) return firstDifference(blank(actual), blank(wanted), EXACT);
    const isInexact = isQuantized && dtypeInfo(wanted.dtype).category === 'float';
    if (isInexact) return quantizedDifference(actual, wanted);
    return firstDifference(actual, wanted, toleranceFor(wanted));
  };
  for (const [index, wanted] of expected.entries()) {
    const { name = '' } = outputs[index] ?? {};
    const result = results[name];
    if (result === undefined) return `output "${name}" is missing`;
    const difference = differenceOf(fromOutput(result), wanted, ofTensors);
    if (difference !== undefined) return `output "${name}": ${difference}`;
  }
  return undefined;
}

const EXACT = { rtol: 0, atol: 0 };

function blank({ dtype, shape }: HostTensor): HostTensor {
  return HostTensor.zeros(dtype, shape);
}

/** As the data's README says: float16 and below get one unit in the last place more. */
function toleranceFor({ dtype }: HostTensor): { rtol: number; atol: number } {
  const { rtol, atol } = LAST_PLACES[dtype] ?? { rtol: 0, atol: 0 };
  return { rtol: 1e-3 + rtol, atol: 1e-5 + atol };
}

/** The last place of a normal number and of the subnormal ones. */
const LAST_PLACES: Partial<Record<DType, { rtol: number; atol: number }>> = {
  float16: { rtol: 2 ** -10, atol: 2 ** -24 },
  bfloat16: { rtol: 2 ** -7, atol: 2 ** -133 },
};
