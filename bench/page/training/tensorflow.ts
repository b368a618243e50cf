import type { TrainingCaseName } from '../../training/training-cases.ts';
import { TRANSFORMER } from '../../training/transformer-sizes.ts';
import { loadTensorFlow } from '../tensorflow.ts';
import type { OpenTrainer } from './trainer.ts';

interface Tensor {
  readonly shape: readonly number[];
  data(): Promise<Float32Array>;
  dispose(): void;
}

/** The parts of TensorFlow.js that a step needs. */
interface TensorFlow {
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
  getBackend(): string;
  tensor(data: Float32Array, shape: readonly number[]): Tensor;
  variable(initial: Tensor, trainable: boolean, name: string): Tensor;
  matMul(a: Tensor, b: Tensor): Tensor;
  conv2d(x: Tensor, filter: Tensor, strides: number, pad: 'same'): Tensor;
  maxPool(x: Tensor, size: number, strides: number, pad: 'valid'): Tensor;
  relu(x: Tensor): Tensor;
  softmax(x: Tensor, axis: number): Tensor;
  moments(
    x: Tensor,
    axes: readonly number[],
    keepDims: boolean,
  ): { mean: Tensor; variance: Tensor };
  rsqrt(x: Tensor): Tensor;
  add(a: Tensor, b: Tensor | number): Tensor;
  sub(a: Tensor, b: Tensor | number): Tensor;
  mul(a: Tensor, b: Tensor | number): Tensor;
  reshape(x: Tensor, shape: readonly number[]): Tensor;
  transpose(x: Tensor, perm: readonly number[]): Tensor;
  readonly losses: { softmaxCrossEntropy(labels: Tensor, logits: Tensor): Tensor };
  readonly train: {
    adam(
      rate: number,
      beta1: number,
      beta2: number,
      epsilon: number,
    ): { minimize(loss: () => Tensor, returnCost: true, variables: readonly Tensor[]): Tensor };
  };
}

type Weights = Readonly<Record<string, Tensor>>;
type Model = (tf: TensorFlow, w: Weights, x: Tensor) => Tensor;

const of = (weights: Weights, name: string): Tensor => {
  const tensor = weights[name];
  if (tensor === undefined) throw new Error(`no ${name}`);
  return tensor;
};

const MODELS: Readonly<Record<TrainingCaseName, Model>> = {
  'train-mlp'(tf, w, x) {
    const dense = (from: Tensor, layer: number) =>
      tf.add(tf.matMul(from, of(w, `w${layer}`)), of(w, `b${layer}`));
    return dense(tf.relu(dense(tf.relu(dense(x, 1)), 2)), 3);
  },
  'train-digits'(tf, w, x) {
    const conv = (from: Tensor, filter: string, bias: string) =>
      tf.relu(tf.add(tf.conv2d(from, of(w, filter), 1, 'same'), of(w, bias)));
    const first = tf.maxPool(conv(x, 'conv1', 'bias1'), 2, 2, 'valid');
    const second = tf.maxPool(conv(first, 'conv2', 'bias2'), 3, 3, 'valid');
    // The dense layer reads channels before places, as the other runtimes have them.
    const flat = tf.reshape(tf.transpose(second, [0, 3, 1, 2]), [x.shape[0] ?? 1, 512]);
    return tf.add(tf.matMul(flat, of(w, 'dense')), of(w, 'bias3'));
  },
  'train-transformer'(tf, w, x) {
    const norm = (from: Tensor, scale: string) => {
      const { mean, variance } = tf.moments(from, [-1], true);
      const normal = tf.mul(tf.sub(from, mean), tf.rsqrt(tf.add(variance, 1e-5)));
      return tf.mul(normal, of(w, scale));
    };
    let stream = tf.matMul(x, of(w, 'embed'));
    for (const layer of ['l0', 'l1']) {
      const normal = norm(stream, `${layer}.n1.scale`);
      stream = tf.add(stream, attention(tf, w, layer, normal));
      const hidden = tf.relu(tf.matMul(norm(stream, `${layer}.n2.scale`), of(w, `${layer}.up`)));
      stream = tf.add(stream, tf.matMul(hidden, of(w, `${layer}.down`)));
    }
    return tf.matMul(norm(stream, 'n.scale'), of(w, 'head'));
  },
};

function attention(tf: TensorFlow, w: Weights, layer: string, x: Tensor): Tensor {
  const { batch, length, width, heads } = TRANSFORMER;
  const part = (name: string, perm: readonly number[]) =>
    tf.transpose(
      tf.reshape(tf.matMul(x, of(w, `${layer}.${name}`)), [batch, length, heads, width / heads]),
      perm,
    );
  const dots = tf.matMul(part('q', [0, 2, 1, 3]), part('k', [0, 2, 3, 1]));
  const mask = Float32Array.from({ length: length * length }, (_, i) =>
    i % length > Math.floor(i / length) ? -1e9 : 0,
  );
  const scaled = tf.mul(dots, 1 / Math.sqrt(width / heads));
  const masked = tf.add(scaled, tf.tensor(mask, [length, length]));
  const mixed = tf.matMul(tf.softmax(masked, -1), part('v', [0, 2, 1, 3]));
  const joined = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [batch * length, width]);
  return tf.matMul(joined, of(w, `${layer}.o`));
}

/** Images as NHWC and filters as HWIO, turned before anything is timed. */
function turned(data: Float32Array, shape: readonly number[], perm: readonly number[]) {
  const sizes = perm.map((axis) => shape[axis] ?? 1);
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const result = new Float32Array(data.length);
  for (let i = 0; i < result.length; i++) {
    let [rest, from] = [i, 0];
    for (let axis = sizes.length - 1; axis >= 0; axis--) {
      const size = sizes[axis] ?? 1;
      from += (rest % size) * (strides[perm[axis] ?? 0] ?? 1);
      rest = Math.floor(rest / size);
    }
    result[i] = data[from] ?? 0;
  }
  return { data: result, shape: sizes };
}

/** TensorFlow.js with its own Adam. */
export const openTensorFlow: OpenTrainer = async ({ trainingCase, device, rate, elements }) => {
  const tf = (await loadTensorFlow(device, 1)) as unknown as TensorFlow;
  await tf.setBackend(device);
  await tf.ready();
  if (tf.getBackend() !== device) throw new Error(`its backend ${device} did not start`);
  const { name, parameters, x, targets } = trainingCase;
  const given = (
    { url, shape }: { url: string; shape: readonly number[] },
    perm: readonly number[],
  ) => (shape.length === 4 ? turned(elements(url), shape, perm) : { data: elements(url), shape });
  const weights = Object.fromEntries(
    Object.entries(parameters).map(([key, tensor]) => {
      const { data, shape } = given(tensor, [2, 3, 1, 0]);
      return [key, tf.variable(tf.tensor(data, shape), true, key)];
    }),
  );
  const optimizer = tf.train.adam(rate, 0.9, 0.999, 1e-8);
  const batch = given(x, [0, 2, 3, 1]);
  return {
    async step() {
      const input = tf.tensor(batch.data, batch.shape);
      const labels = tf.tensor(elements(targets.url), targets.shape);
      const loss = optimizer.minimize(
        () => tf.losses.softmaxCrossEntropy(labels, MODELS[name](tf, weights, input)),
        true,
        Object.values(weights),
      );
      const value = Number((await loss.data())[0]);
      for (const tensor of [input, labels, loss]) tensor.dispose();
      return value;
    },
  };
};
