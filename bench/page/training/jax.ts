import type { TrainingCaseName } from '../../training/training-cases.ts';
import { TRANSFORMER } from '../../training/transformer-sizes.ts';
import { FIRST_SHARE, type OpenTrainer } from './trainer.ts';

/** An array of jax-js, which every operation takes over; `ref` gives one reference more. */
interface JaxArray {
  readonly ref: JaxArray;
  readonly shape: readonly number[];
  add(other: JaxArray | number): JaxArray;
  sub(other: JaxArray | number): JaxArray;
  mul(other: JaxArray | number): JaxArray;
  div(other: JaxArray | number): JaxArray;
  sum(axis?: number): JaxArray;
  max(axis: number | readonly number[]): JaxArray;
  reshape(shape: readonly number[]): JaxArray;
  transpose(perm: readonly number[]): JaxArray;
  slice(...index: readonly unknown[]): JaxArray;
  data(): Promise<Float32Array>;
}

type Arrays = Readonly<Record<string, JaxArray>>;
type State = { readonly w: Arrays; readonly mean: Arrays; readonly square: Arrays };

/** The parts of jax-js that a step needs. */
interface Jax {
  init(...devices: string[]): Promise<string[]>;
  defaultDevice(device: string): string;
  jit<F>(work: F): F;
  valueAndGrad(loss: (w: Arrays) => JaxArray): (w: Arrays) => readonly [JaxArray, Arrays];
  readonly numpy: {
    array(data: Float32Array): JaxArray;
    zeros(shape: readonly number[]): JaxArray;
    matmul(a: JaxArray, b: JaxArray): JaxArray;
    sqrt(x: JaxArray): JaxArray;
    square(x: JaxArray): JaxArray;
  };
  readonly nn: {
    relu(x: JaxArray): JaxArray;
    softmax(x: JaxArray, axis: number): JaxArray;
    logSoftmax(x: JaxArray, axis: number): JaxArray;
    standardize(x: JaxArray, axis: number): JaxArray;
  };
  readonly lax: {
    convGeneralDilated(
      x: JaxArray,
      w: JaxArray,
      strides: readonly number[],
      padding: readonly (readonly number[])[],
    ): JaxArray;
  };
}

type Model = (jax: Jax, w: Arrays, x: JaxArray) => JaxArray;

const of = (arrays: Arrays, name: string): JaxArray => {
  const array = arrays[name];
  if (array === undefined) throw new Error(`no ${name}`);
  return array.ref;
};

const PADDING = [
  [2, 2],
  [2, 2],
];

const MODELS: Readonly<Record<TrainingCaseName, Model>> = {
  'train-mlp'({ numpy, nn }, w, x) {
    const first = nn.relu(numpy.matmul(x, of(w, 'w1')).add(of(w, 'b1')));
    const second = nn.relu(numpy.matmul(first, of(w, 'w2')).add(of(w, 'b2')));
    return numpy.matmul(second, of(w, 'w3')).add(of(w, 'b3'));
  },
  'train-digits'({ numpy, nn, lax }, w, x) {
    const n = x.shape[0] ?? 1;
    const conv = (from: JaxArray, filter: string, bias: string, channels: number) =>
      nn.relu(
        lax
          .convGeneralDilated(from, of(w, filter), [1, 1], PADDING)
          .add(of(w, bias).reshape([1, channels, 1, 1])),
      );
    const first = conv(x, 'conv1', 'bias1', 16).reshape([n, 16, 14, 2, 14, 2]).max([3, 5]);
    const second = conv(first, 'conv2', 'bias2', 32)
      .slice([], [], [0, 12], [0, 12])
      .reshape([n, 32, 4, 3, 4, 3])
      .max([3, 5]);
    return numpy.matmul(second.reshape([n, 512]), of(w, 'dense')).add(of(w, 'bias3'));
  },
  'train-transformer'(jax, w, x) {
    const { numpy, nn } = jax;
    const norm = (from: JaxArray, scale: string) => nn.standardize(from, -1).mul(of(w, scale));
    let stream = numpy.matmul(x, of(w, 'embed'));
    for (const layer of ['l0', 'l1']) {
      const normal = norm(stream.ref, `${layer}.n1.scale`);
      stream = stream.add(attention(jax, w, layer, normal));
      const inner = norm(stream.ref, `${layer}.n2.scale`);
      const hidden = nn.relu(numpy.matmul(inner, of(w, `${layer}.up`)));
      stream = stream.add(numpy.matmul(hidden, of(w, `${layer}.down`)));
    }
    return numpy.matmul(norm(stream, 'n.scale'), of(w, 'head'));
  },
};

function attention({ numpy, nn }: Jax, w: Arrays, layer: string, x: JaxArray): JaxArray {
  const { batch, length, width, heads } = TRANSFORMER;
  const part = (name: string, perm: readonly number[]) =>
    numpy
      .matmul(x.ref, of(w, `${layer}.${name}`))
      .reshape([batch, length, heads, width / heads])
      .transpose(perm);
  const dots = numpy.matmul(part('q', [0, 2, 1, 3]), part('k', [0, 2, 3, 1]));
  const mask = Float32Array.from({ length: length * length }, (_, i) =>
    i % length > Math.floor(i / length) ? -1e9 : 0,
  );
  const scaled = dots
    .div(Math.sqrt(width / heads))
    .add(numpy.array(mask).reshape([1, 1, length, length]));
  const mixed = numpy.matmul(nn.softmax(scaled, -1), part('v', [0, 2, 1, 3]));
  const joined = mixed.transpose([0, 2, 1, 3]).reshape([batch * length, width]);
  return numpy.matmul(joined, of(w, `${layer}.o`));
}

const map = (arrays: Arrays, change: (array: JaxArray, name: string) => JaxArray): Arrays =>
  Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, change(array, name)]));

/** One step of Adam; the corrections of biases travel as numbers, so that one trace serves all steps. */
function stepOf(jax: Jax, name: TrainingCaseName, rate: number) {
  const { numpy, nn } = jax;
  return jax.jit((state: State, x: JaxArray, targets: JaxArray, fixes: JaxArray) => {
    const rows = targets.shape[0] ?? 1;
    const lossOf = (w: Arrays) =>
      nn
        .logSoftmax(MODELS[name](jax, w, x.ref), -1)
        .mul(targets.ref)
        .sum()
        .mul(-1 / rows);
    const [loss, slopes] = jax.valueAndGrad(lossOf)(map(state.w, (w) => w.ref));
    const mean = map(state.mean, (m, key) => m.mul(0.9).add(of(slopes, key).mul(0.1)));
    const square = map(state.square, (s, key) =>
      s.mul(0.999).add(numpy.square(of(slopes, key)).mul(0.001)),
    );
    const w = map(state.w, (value, key) => {
      const size = numpy.sqrt(of(square, key).mul(fixes.ref.slice(1))).add(1e-8);
      return value.sub(of(mean, key).mul(fixes.ref.slice(0)).div(size).mul(rate));
    });
    return { loss, w, mean, square };
  });
}

/** jax-js: forward, backward and update compiled together by `jit`. */
export const openJax: OpenTrainer = async ({ trainingCase, device, rate, elements }) => {
  const jax = (await import('@jax-js/jax')) as unknown as Jax;
  const devices = await jax.init(device);
  if (!devices.includes(device)) throw new Error(`its backend ${device} did not start`);
  jax.defaultDevice(device);
  const { name, parameters, x, targets } = trainingCase;
  const upload = ({ url, shape }: { url: string; shape: readonly number[] }) =>
    jax.numpy.array(elements(url)).reshape(shape);
  const entries = Object.entries(parameters);
  const zeros = () =>
    Object.fromEntries(entries.map(([key, { shape }]) => [key, jax.numpy.zeros([...shape])]));
  let state: State = {
    w: Object.fromEntries(entries.map(([key, tensor]) => [key, upload(tensor)])),
    mean: zeros(),
    square: zeros(),
  };
  const step = stepOf(jax, name, rate);
  let count = 0;
  return {
    async step() {
      count++;
      const fixes = Float32Array.of(1 / (1 - 0.9 ** count), 1 / (1 - 0.999 ** count));
      const { loss, ...next } = step(state, upload(x), upload(targets), jax.numpy.array(fixes));
      state = next;
      return Number((await loss.data())[0]);
    },
    async gradients() {
      const gradients: Record<string, Float32Array> = {};
      for (const name of Object.keys(parameters)) {
        const mean = await of(state.mean, name).data();
        gradients[name] = mean.map((value) => value / FIRST_SHARE);
      }
      return gradients;
    },
  };
};
