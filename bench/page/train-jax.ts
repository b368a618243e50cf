import type * as library from '@jax-js/jax';
import type { BenchCase } from '../cases/bench-case.ts';
import { TRANSFORMER } from '../cases/transformer-sizes.ts';
import { type Jax, openJax } from './jax.ts';
import { float32, type Running, type StartOptions } from './runtime.ts';
import { startTraining } from './training.ts';

type JaxArray = library.Array;
type Arrays = library.Arrays;
type State = { readonly w: Arrays; readonly mean: Arrays; readonly square: Arrays };

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

const MODELS: Readonly<Record<string, Model>> = {
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
function stepOf(jax: Jax, model: Model, rate: number) {
  const { numpy, nn } = jax;
  return jax.jit((state: State, x: JaxArray, targets: JaxArray, fixes: JaxArray) => {
    const rows = targets.shape[0] ?? 1;
    const lossOf = (w: Arrays) =>
      nn
        .logSoftmax(model(jax, w, x.ref), -1)
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
export const start = (benchCase: BenchCase, options: StartOptions): Promise<Running> =>
  startTraining('jax', async () => {
    const { name, inputs, weights, training } = benchCase;
    const model = MODELS[name];
    if (model === undefined || training === undefined) throw new Error(`${name} is not written`);
    const jax = await openJax(options);
    const upload = ({ url, shape }: (typeof inputs)[number]) =>
      jax.numpy.array(float32(url)).reshape(shape);
    const named = (make: (weight: (typeof weights)[number]) => JaxArray): Arrays =>
      Object.fromEntries(weights.map((weight, i) => [training.parameters[i] ?? '', make(weight)]));
    const zeros = () => named(({ shape }) => jax.numpy.zeros([...shape]));
    let state: State = { w: named(upload), mean: zeros(), square: zeros() };
    const step = stepOf(jax, model, training.rate);
    let count = 0;
    return {
      async step() {
        count++;
        const fixes = Float32Array.of(1 / (1 - 0.9 ** count), 1 / (1 - 0.999 ** count));
        const [x, targets] = inputs.map(upload);
        if (x === undefined || targets === undefined) throw new Error('no batch');
        const { loss, ...next } = step(state, x, targets, jax.numpy.array(fixes));
        state = next;
        return Number((await loss.data())[0]);
      },
      async means() {
        const pairs = training.parameters.map(
          async (key) => [key, await of(state.mean, key).data()] as const,
        );
        return Object.fromEntries(await Promise.all(pairs));
      },
    };
  });
