import type * as library from '@tensorflow/tfjs';
import type { BenchCase, BenchDevice } from '../cases/bench-case.ts';
import { float32, type Output, type Running, type StartOptions, timePart } from './runtime.ts';

export type TensorFlow = typeof library;
type Tensor = library.Tensor;
type Operator = (tf: TensorFlow, x: Tensor, weights: readonly Tensor[]) => Tensor;

/** TensorFlow.js holds images as NHWC and filters as HWIO; they are turned before anything is timed. */
export const TO_NHWC = [0, 2, 3, 1];
const TO_NCHW = [0, 3, 1, 2];
export const TO_HWIO = [2, 3, 1, 0];

/** Filters of a depthwise convolution are height, width, channel, multiplier. */
const TO_HWCM = [2, 3, 0, 1];

const weight = (weights: readonly Tensor[], index = 0): Tensor => {
  const tensor = weights[index];
  if (tensor === undefined) throw new Error(`no weight ${index}`);
  return tensor;
};

const matmul: Operator = (tf, x, weights) => tf.matMul(x, weight(weights));
const conv: Operator = (tf, x, weights) => tf.conv2d(x, weight(weights), 1, 'same');

/** The operator cases by name, as one writes them with TensorFlow.js. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  'matmul-256': matmul,
  'matmul-512': matmul,
  'matmul-1024': matmul,
  'matvec-4096': matmul,
  'conv-3x3': conv,
  'conv-1x1': conv,
  'conv-depthwise': (tf, x, weights) => tf.depthwiseConv2d(x, weight(weights), 1, 'same'),
  softmax: (tf, x) => tf.softmax(x, -1),
  'layer-norm': (tf, x, weights) => {
    const { mean, variance } = tf.moments(x, [-1], true);
    const normal = tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, 1e-5)));
    return tf.add(tf.mul(normal, weight(weights)), weight(weights, 1));
  },
  'row-sums': (tf, x) => tf.sum(x, 1),
  transpose: (tf, x) => tf.transpose(x, [1, 0]),
  'add-4m': (tf, x, weights) => tf.add(x, weight(weights)),
  'chain-16': (tf, x) => {
    let y = x;
    for (let i = 0; i < 4; i++) y = tf.abs(tf.tanh(tf.add(tf.mul(y, 1.25), -0.1)));
    return y;
  },
  'matmuls-200': (tf, x, weights) => {
    let y = x;
    for (let i = 0; i < 200; i++) y = tf.matMul(y, weight(weights));
    return y;
  },
};

const PEERS = '/peers/@tensorflow';

/** TensorFlow.js with its backend for a device. */
const LIBRARIES: Readonly<Record<BenchDevice, (threads: number) => Promise<TensorFlow>>> = {
  async webgpu() {
    const [tf] = await Promise.all([
      import('@tensorflow/tfjs'),
      import('@tensorflow/tfjs-backend-webgpu'),
    ]);
    return tf;
  },
  // The files that it publishes for pages: threads run code that bundlers break.
  async wasm(threads) {
    await loadScript(`${PEERS}/tfjs/dist/tf.min.js`);
    await loadScript(`${PEERS}/tfjs-backend-wasm/dist/tf-backend-wasm.min.js`);
    const { tf } = globalThis as unknown as { readonly tf: TensorFlow & WasmBackend };
    tf.wasm.setWasmPaths(`${PEERS}/tfjs-backend-wasm/dist/`);
    tf.wasm.setThreadsCount(threads);
    return tf;
  },
};

interface WasmBackend {
  readonly wasm: {
    setWasmPaths(folder: string): void;
    setThreadsCount(count: number): void;
  };
}

/** TensorFlow.js as its users load it for a device, with the backend for it. */
export async function openTensorFlow(options: StartOptions): Promise<TensorFlow> {
  const { device, threads } = options;
  const tf = await timePart(options, 'library', () => LIBRARIES[device](threads));
  await timePart(options, 'backend', async () => {
    await tf.setBackend(device);
    await tf.ready();
  });
  if (tf.getBackend() !== device) throw new Error(`its backend ${device} did not start`);
  return tf;
}

function loadScript(src: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.addEventListener('load', () => resolve());
    script.addEventListener('error', () => reject(new Error(`${src} does not load`)));
    script.src = src;
    document.head.append(script);
  });
}

/** Takes a case to TensorFlow.js; weights are tensors on the device. */
export async function start(benchCase: BenchCase, options: StartOptions): Promise<Running> {
  const { name, inputs, weights } = benchCase;
  const tf = await openTensorFlow(options);
  const operator = OPERATORS[name];
  const [x] = inputs;
  if (operator === undefined || x === undefined) throw new Error(`case ${name} is not written`);
  const isConv = name.startsWith('conv');
  const filterOrder = name === 'conv-depthwise' ? TO_HWCM : TO_HWIO;
  const given = { shape: x.shape, data: float32(x.url) };
  const input = isConv ? permute(given, TO_NHWC) : given;
  const resident = weights.map(({ shape, url }) => {
    const raw = { shape, data: float32(url) };
    const turned = isConv ? permute(raw, filterOrder) : raw;
    return tf.tensor(turned.data, turned.shape);
  });
  const upload = (): Tensor => tf.tensor(input.data, input.shape);
  const canonical = (outputs: readonly Output[]): readonly Output[] =>
    isConv ? outputs.map(toNchw) : outputs;
  const read = async (result: Tensor): Promise<readonly Output[]> => {
    const { shape } = result;
    const data = await result.data();
    result.dispose();
    return [{ data, shape }];
  };
  if (!options.isResident) {
    return { run: () => read(tf.tidy(() => operator(tf, upload(), resident))), canonical };
  }
  const held = upload();
  const compute = (): Tensor => tf.tidy(() => operator(tf, held, resident));
  return {
    // Its kernels are done when they return.
    run() {
      compute().dispose();
      return Promise.resolve([]);
    },
    read: () => read(compute()),
    canonical,
  };
}

const toNchw = ({ data, shape }: Output): Output =>
  permute({ data: Float32Array.from(data, Number), shape }, TO_NCHW);

interface Dense {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** A tensor with its axes in the order `perm`. */
export function permute({ shape, data }: Dense, perm: readonly number[]): Dense {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const outShape = perm.map((axis) => shape[axis] ?? 1);
  const outStrides = perm.map((axis) => strides[axis] ?? 1);
  const index = outShape.map(() => 0);
  let source = 0;
  const out = new Float32Array(data.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = data[source] ?? Number.NaN;
    for (let axis = index.length - 1; axis >= 0; axis--) {
      const next = (index[axis] ?? 0) + 1;
      const stride = outStrides[axis] ?? 0;
      source += stride;
      if (next < (outShape[axis] ?? 0)) {
        index[axis] = next;
        break;
      }
      source -= next * stride;
      index[axis] = 0;
    }
  }
  return { shape: outShape, data: out };
}
