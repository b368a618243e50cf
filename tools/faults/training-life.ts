import {
  type DeviceTensor,
  type Inputs,
  type RunOptions,
  Session,
  Tensor,
} from '../../src/client/index.ts';
import { compile } from '../../src/compiler/compile.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import { gradOnnx } from '../../src/frontend/index.ts';
import { writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import { Life, type LifePlace } from './life.ts';

export type State = Record<string, DeviceTensor>;

const STEPS = 3;
const [BATCH, FEATURES, CLASSES] = [4, 8, 3];

const random = seededRandom(23);
const numbers = (...shape: readonly number[]): HostTensor => {
  const count = shape.reduce((product, dim) => product * dim, 1);
  const values = Array.from({ length: count }, () => random() * 2 - 1);
  return HostTensor.from('float32', shape, values);
};

const { module, state } = gradOnnx(
  writeOnnxModel({
    inputs: [{ name: 'x', shape: ['batch', FEATURES] }],
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w1'], outputs: ['h'] },
      { op: 'Relu', inputs: ['h'], outputs: ['a'] },
      { op: 'MatMul', inputs: ['a', 'w2'], outputs: ['y'] },
    ],
    initializers: { w1: numbers(FEATURES, 6), w2: numbers(6, CLASSES) },
    outputs: ['y'],
  }),
  { loss: { name: 'cross_entropy' }, wrt: ['*'], optimizer: { name: 'adamw' } },
);
/** {@link begin} gives the state, and `main` takes a step. */
export const executable = compile(module).toBytes();

const batches = Array.from({ length: STEPS }, (_, step) => ({
  x: new Tensor('float32', numbers(BATCH, FEATURES).data, [BATCH, FEATURES]),
  targets: new Tensor(
    'int64',
    BigInt64Array.from({ length: BATCH }, (_, i) => BigInt((i + step) % CLASSES)),
    [BATCH],
  ),
}));

/** Trains on the device in the processor; the first weights in the end. */
export async function expectedWeights(): Promise<Tensor> {
  const session = await Session.load(executable, { device: 'wasm', worker: false });
  let values: Inputs = await begin(session);
  for (let at = 0; at < STEPS; at++) values = await step(session, values, at);
  const weights = await weightsOf(values);
  await session.dispose();
  return weights;
}

export const begin = async (session: Session): Promise<Inputs> =>
  (await session.run({}, { function: 'init' })) as Inputs;

/** The state behind a step on one of the batches. */
export async function step(
  session: Session,
  values: Inputs,
  at: number,
  options: Pick<RunOptions, 'signal' | 'donate'> = {},
): Promise<State> {
  const outputs = await session.run({ ...values, ...batches[at] }, { keep: state, ...options });
  return Object.fromEntries(state.map((name) => [name, outputs[name] as DeviceTensor]));
}

export const weightsOf = (values: Inputs): Promise<Tensor> => (values['w1'] as DeviceTensor).read();

/** Trains step by step, takes a snapshot behind each, and goes on from the last one where the device is lost. */
export class TrainingLife extends Life<Session> {
  readonly #place: LifePlace;
  readonly #expected: Tensor;
  #values: Inputs = {};
  #snapshot: Uint8Array<ArrayBuffer> | undefined;

  constructor(place: LifePlace, expected: Tensor) {
    super();
    this.#place = place;
    this.#expected = expected;
  }

  protected async load(): Promise<Session> {
    if (this.#snapshot === undefined) {
      return Session.load(executable, this.#place);
    }
    const session = await Session.resume(this.#snapshot, { executable, ...this.#place });
    this.#values = session.resumed.tensors as Inputs;
    return session;
  }

  protected async steps(): Promise<void> {
    for (let at = 0; at < STEPS; at++) await this.step('train', () => this.#train(at));
    await this.step('read', async () => {
      const { data } = await weightsOf(this.#values);
      const isWrong = (value: unknown, i: number): boolean =>
        Math.abs(Number(value) - Number(this.#expected.data[i])) > 1e-5;
      if ([...data].some(isWrong)) throw new Error(`wrong weights: ${[...data].join()}`);
    });
  }

  /** The step counts when its snapshot is taken. */
  async #train(at: number): Promise<void> {
    const session = this.loaded;
    const before = at === 0 ? await begin(session) : this.#values;
    const values = await step(session, before, at);
    await session.pause();
    let snapshot: Uint8Array<ArrayBuffer>;
    try {
      snapshot = await session.snapshot({ tensors: values });
    } finally {
      await session.continue();
    }
    this.#snapshot = snapshot;
    this.#values = values;
  }
}
