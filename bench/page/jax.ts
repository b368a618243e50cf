import type * as library from '@jax-js/jax';
import type { BenchCase } from '../cases/bench-case.ts';
import { float32, type Output, type Running, type StartOptions, timePart } from './runtime.ts';

export type Jax = typeof library;
type JaxArray = library.Array;
type Operator = (jax: Jax, x: JaxArray, weights: readonly JaxArray[]) => JaxArray;

const weight = (weights: readonly JaxArray[], index = 0): JaxArray => {
  const array = weights[index];
  if (array === undefined) throw new Error(`no weight ${index}`);
  return array;
};

const matmul: Operator = ({ numpy }, x, weights) => numpy.matmul(x, weight(weights));

const conv =
  (pad: number, featureGroupCount: number): Operator =>
  ({ lax }, x, weights) => {
    const padding = [
      [pad, pad],
      [pad, pad],
    ];
    return lax.convGeneralDilated(x, weight(weights), [1, 1], padding, { featureGroupCount });
  };

/** The operator cases by name, as one writes them with jax-js; all are compiled by `jit`. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  'matmul-256': matmul,
  'matmul-512': matmul,
  'matmul-1024': matmul,
  'matvec-4096': matmul,
  'conv-3x3': conv(1, 1),
  'conv-1x1': conv(0, 1),
  'conv-depthwise': conv(1, 64),
  softmax: ({ nn }, x) => nn.softmax(x, -1),
  'layer-norm': ({ nn, numpy }, x, weights) =>
    numpy.add(numpy.multiply(nn.standardize(x, -1), weight(weights)), weight(weights, 1)),
  'row-sums': ({ numpy }, x) => numpy.sum(x, 1),
  transpose: ({ numpy }, x) => numpy.transpose(x, [1, 0]),
  'add-4m': ({ numpy }, x, weights) => numpy.add(x, weight(weights)),
  'chain-16': ({ numpy }, x) => {
    let y = x;
    for (let i = 0; i < 4; i++) {
      y = numpy.abs(numpy.tanh(numpy.add(numpy.multiply(y, 1.25), -0.1)));
    }
    return y;
  },
  'matmuls-200': ({ numpy }, x, weights) => {
    let y = x;
    for (let i = 0; i < 199; i++) y = numpy.matmul(y, weight(weights).ref);
    return numpy.matmul(y, weight(weights));
  },
};

/** jax-js only notes a transpose down, for the operation that comes next: here one more. */
const TRANSPOSED: Operator = ({ numpy }, x) => numpy.add(numpy.transpose(x, [1, 0]), 1);

/** jax-js with its backend for the device. */
export async function openJax(options: StartOptions): Promise<Jax> {
  const { device } = options;
  limitThreads(options);
  const jax = await timePart(options, 'library', () => import('@jax-js/jax'));
  const devices = await timePart(options, 'backend', () => jax.init(device));
  if (!devices.includes(device)) throw new Error(`its backend ${device} did not start`);
  jax.defaultDevice(device);
  return jax;
}

/** Takes a case to jax-js; weights are arrays on the device. */
export async function start(benchCase: BenchCase, options: StartOptions): Promise<Running> {
  const { name, inputs, weights } = benchCase;
  const { isResident } = options;
  const jax = await openJax(options);
  const isNoted = isResident && name === 'transpose';
  const operator = isNoted ? TRANSPOSED : OPERATORS[name];
  const [x] = inputs;
  if (operator === undefined || x === undefined) throw new Error(`case ${name} is not written`);
  const upload = (url: string, shape: readonly number[]): JaxArray =>
    jax.numpy.array(float32(url)).reshape(shape);
  const resident = weights.map(({ shape, url }) => upload(url, shape));
  const compiled = jax.jit((x: JaxArray, ...weights: JaxArray[]) => operator(jax, x, weights));
  const compute = (x: JaxArray): JaxArray => compiled(x, ...resident.map(({ ref }) => ref));
  const outputOf = async (result: JaxArray): Promise<Output> => {
    const { shape } = result;
    return { data: await result.data(), shape };
  };
  if (!isResident) {
    return { run: async () => [await outputOf(compute(upload(x.url, x.shape)))] };
  }
  const held = upload(x.url, x.shape);
  return {
    async run() {
      const result = compute(held.ref);
      await result.blockUntilReady();
      result.dispose();
      return [];
    },
    read: async () => [await outputOf(compute(held.ref))],
    canonical: (outputs) => (isNoted ? outputs.map(withoutOne) : outputs),
  };
}

const withoutOne = ({ data, shape }: Output): Output => ({
  data: Float32Array.from(data, (value) => Number(value) - 1),
  shape,
});

/** jax-js has as many threads as it sees processors, where memory can be shared. */
function limitThreads({ device, threads }: StartOptions): void {
  if (device !== 'wasm') return;
  Object.defineProperty(navigator, 'hardwareConcurrency', { value: threads, configurable: true });
}
