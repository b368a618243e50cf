import type * as library from '@tensorflow/tfjs';
import type { BenchCase, CaseTensor } from '../cases/bench-case.ts';
import { TRANSFORMER } from '../cases/transformer-sizes.ts';
import { float32, type Running, type StartOptions } from './runtime.ts';
import { openTensorFlow, permute, type TensorFlow, TO_HWIO, TO_NHWC } from './tensorflow.ts';
import { startTraining } from './training.ts';

type Tensor = library.Tensor;
type Weights = Readonly<Record<string, Tensor>>;
type Model = (tf: TensorFlow, w: Weights, x: Tensor) => Tensor;

const of = (weights: Weights, name: string): Tensor => {
  const tensor = weights[name];
  if (tensor === undefined) throw new Error(`no ${name}`);
  return tensor;
};

const MODELS: Readonly<Record<string, Model>> = {
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

/** TensorFlow.js with its own Adam. Images are NHWC and filters HWIO, turned before anything is timed. */
export const start = (benchCase: BenchCase, options: StartOptions): Promise<Running> =>
  startTraining('tensorflow', async () => {
    const { name, inputs, weights, training } = benchCase;
    const model = MODELS[name];
    if (model === undefined || training === undefined) throw new Error(`${name} is not written`);
    const tf = await openTensorFlow(options);
    const dense = ({ url, shape }: CaseTensor, perm: readonly number[]) => {
      const given = { shape, data: float32(url) };
      return shape.length === 4 ? permute(given, perm) : given;
    };
    const variables = weights.map((weight, i) => {
      const { data, shape } = dense(weight, TO_HWIO);
      return tf.variable(tf.tensor(data, shape), true, training.parameters[i] ?? '');
    });
    const named = Object.fromEntries(variables.map((one, i) => [training.parameters[i], one]));
    const optimizer = tf.train.adam(training.rate, 0.9, 0.999, 1e-8);
    const [x, targets] = inputs.map((input) => dense(input, TO_NHWC));
    if (x === undefined || targets === undefined) throw new Error('no batch');
    return {
      async step() {
        const input = tf.tensor(x.data, x.shape);
        const labels = tf.tensor(targets.data, targets.shape);
        const loss = optimizer.minimize(
          () => tf.losses.softmaxCrossEntropy(labels, model(tf, named, input)),
          true,
          variables,
        );
        const value = Number((await loss.data())[0]);
        for (const tensor of [input, labels, loss]) tensor.dispose();
        return value;
      },
    };
  });
