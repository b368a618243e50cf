import { compile } from '../../src/compiler/compile.ts';
import { seededRandom } from '../../src/core/random.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';
import { gradOnnx } from '../../src/frontend/training/grad-onnx.ts';
import { type OnnxNodeSpec, writeOnnxModel } from '../../src/testing/onnx-writer.ts';
import type { CasePlan } from './bench-case.ts';
import { caseFiles } from './build-case.ts';
import { TRANSFORMER } from './transformer-sizes.ts';

/** Writes a model node by node, as exporters do. */
class ModelWriter {
  readonly nodes: OnnxNodeSpec[] = [];
  readonly constants: Record<string, HostTensor> = {};
  /** Those that are trained, by the names that the peers know. */
  readonly parameters: Record<string, HostTensor> = {};
  readonly random: () => number;
  #count = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** The output of a node. */
  add(
    op: string,
    inputs: readonly string[],
    attributes: NonNullable<OnnxNodeSpec['attributes']> = {},
  ): string {
    const output = `v${this.#count++}`;
    this.nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  constant(tensor: HostTensor): string {
    const name = `c${this.#count++}`;
    this.constants[name] = tensor;
    return name;
  }

  scalar(value: number): string {
    return this.constant(HostTensor.from('float32', [], [value]));
  }

  ints(...values: readonly number[]): string {
    return this.constant(HostTensor.from('int64', [values.length], values));
  }

  splat(length: number, value: number): string {
    return this.constant(HostTensor.splat('float32', [length], value));
  }

  /** Uniform numbers around 0. */
  weight(shape: readonly number[], scale: number): string {
    return this.constant(this.tensor(shape, () => (this.random() - 0.5) * scale));
  }

  /** Uniform numbers of the variance 1 / fan-in; vectors are zeros, those of norms ones. */
  parameter(name: string, shape: readonly number[]): string {
    const count = elementCount(shape);
    const fanIn = shape.length === 4 ? count / (shape[0] ?? 1) : (shape[0] ?? 1);
    const bound = shape.length === 1 ? 0 : Math.sqrt(3 / fanIn);
    const one = name.endsWith('scale') ? 1 : 0;
    this.parameters[name] = this.tensor(shape, () => one + bound * (2 * this.random() - 1));
    return name;
  }

  tensor(shape: readonly number[], draw = this.random): HostTensor {
    const data = Float32Array.from({ length: elementCount(shape) }, draw);
    return new HostTensor('float32', shape, data);
  }

  /** Rows that are one at a random place. */
  oneHot(rows: number, classes: number): HostTensor {
    const tensor = HostTensor.zeros('float32', [rows, classes]);
    for (let row = 0; row < rows; row++) {
      tensor.data[row * classes + Math.floor(this.random() * classes)] = 1;
    }
    return tensor;
  }

  /** Attention by heads over `x`, of which `project` makes queries, keys and values, and the result. */
  attention(
    x: string,
    { batch = 1, length, width, heads, rows }: AttentionSize,
    project: (from: string, which: 'q' | 'k' | 'v' | 'o') => string,
    mask?: string,
  ): string {
    const split = this.ints(batch, length, heads, width / heads);
    const head = (which: 'q' | 'k' | 'v'): string => {
      const parts = this.add('Reshape', [project(x, which), split]);
      return this.add('Transpose', [parts], { perm: which === 'k' ? [0, 2, 3, 1] : [0, 2, 1, 3] });
    };
    const dots = this.add('MatMul', [head('q'), head('k')]);
    const scaled = this.add('Mul', [dots, this.scalar(1 / Math.sqrt(width / heads))]);
    const masked = mask === undefined ? scaled : this.add('Add', [scaled, mask]);
    const mixed = this.add('MatMul', [this.add('Softmax', [masked], { axis: -1 }), head('v')]);
    const together = this.add('Transpose', [mixed], { perm: [0, 2, 1, 3] });
    return project(this.add('Reshape', [together, this.ints(...rows, width)]), 'o');
  }
}

interface AttentionSize {
  readonly batch?: number;
  readonly length: number;
  readonly width: number;
  readonly heads: number;
  /** The shape of `x` but for its width. */
  readonly rows: readonly number[];
}

/**
 * An encoder after "Attention Is All You Need" (layer norm after the residual, an inner layer of
 * four widths, GELU by Erf), spelled out in operators. `x` and `y` are [1, length, width].
 */
export function encoderModel({ layers, length, width, heads }: EncoderSize) {
  const m = new ModelWriter(7);
  const dense = (x: string, from: number, to: number): string => {
    const product = m.add('MatMul', [x, m.weight([from, to], 3.4 / Math.sqrt(from))]);
    return m.add('Add', [product, m.weight([to], 0.1)]);
  };
  const norm = (x: string): string => {
    const inputs = [x, m.splat(width, 1), m.weight([width], 0.1)];
    return m.add('LayerNormalization', inputs, { axis: -1 });
  };
  const gelu = (x: string): string => {
    const erf = m.add('Erf', [m.add('Div', [x, m.scalar(Math.SQRT2)])]);
    const product = m.add('Mul', [x, m.add('Add', [erf, m.scalar(1)])]);
    return m.add('Mul', [product, m.scalar(0.5)]);
  };
  const size = { length, width, heads, rows: [1, length] };
  let x = 'x';
  for (let layer = 0; layer < layers; layer++) {
    const mixed = m.attention(x, size, (from) => dense(from, width, width));
    const attended = norm(m.add('Add', [x, mixed]));
    const inner = dense(gelu(dense(attended, width, 4 * width)), 4 * width, width);
    x = norm(m.add('Add', [attended, inner]));
  }
  const nodes = [...m.nodes, { op: 'Identity', inputs: [x], outputs: ['y'] }];
  return { input: [1, length, width], constants: m.constants, nodes };
}

interface EncoderSize {
  readonly layers: number;
  /** Of the sequence. */
  readonly length: number;
  readonly width: number;
  readonly heads: number;
}

/** Steps of training by the models' names, in `page/train-*.ts` too. All are run on every device. */
export const trainingCases = (): CasePlan[] => [
  planTraining('train-mlp', mlp),
  planTraining('train-digits', digits),
  planTraining('train-transformer', transformer),
];

/** Of Adam, in all runtimes. */
const RATE = 1e-3;
/** Losses of the first steps may differ by this share. */
const TOLERANCE = 0.01;

function planTraining(name: string, make: () => TrainingModel): CasePlan {
  return {
    name,
    title: name,
    targets: { tensorflow: 1.5, jax: 1.5, memory: 1 },
    peers: ['tensorflow', 'jax'],
    isTraining: true,
    build() {
      const { onnx, parameters, x, targets } = make();
      const names = Object.keys(parameters);
      const { module, state } = gradOnnx(onnx, {
        wrt: names,
        loss: { name: 'cross_entropy' },
        targets: 'float32',
        optimizer: { name: 'adam' },
        rate: RATE,
      });
      const { files, place, placeAll } = caseFiles(name);
      const benchCase = {
        name,
        model: '',
        executable: place('train.weft', compile(module).toBytes()),
        inputs: placeAll('input', [x, targets]),
        weights: placeAll('weight', Object.values(parameters)),
        expected: [],
        tolerance: TOLERANCE,
        training: { parameters: names, state, rate: RATE },
      };
      return { benchCase, files };
    },
  };
}

/** A model that is trained. */
interface TrainingModel {
  readonly onnx: Uint8Array;
  readonly parameters: Readonly<Record<string, HostTensor>>;
  readonly x: HostTensor;
  /** Probabilities of the classes, in the shape of the model's output. */
  readonly targets: HostTensor;
}

function trained(m: ModelWriter, y: string, batch: Pick<TrainingModel, 'x' | 'targets'>) {
  const onnx = writeOnnxModel({
    opset: 20,
    nodes: [...m.nodes, { op: 'Identity', inputs: [y], outputs: ['y'] }],
    inputs: [{ name: 'x', shape: batch.x.shape }],
    outputs: ['y'],
    initializers: { ...m.parameters, ...m.constants },
  });
  return { onnx, parameters: m.parameters, ...batch };
}

/** Three layers over 128 rows of 784 numbers. */
function mlp(): TrainingModel {
  const m = new ModelWriter(1);
  const dense = (x: string, layer: number, from: number, to: number): string =>
    m.add('Gemm', [x, m.parameter(`w${layer}`, [from, to]), m.parameter(`b${layer}`, [to])]);
  const first = m.add('Relu', [dense('x', 1, 784, 256)]);
  const y = dense(m.add('Relu', [dense(first, 2, 256, 128)]), 3, 128, 10);
  return trained(m, y, { x: m.tensor([128, 784]), targets: m.oneHot(128, 10) });
}

/** The digit network: two convolutions with pooling, and a dense layer, over 32 images. */
function digits(): TrainingModel {
  const m = new ModelWriter(2);
  const layer = (x: string, n: number, [from, to]: readonly [number, number], pool: number) => {
    const weights = [m.parameter(`conv${n}`, [to, from, 5, 5]), m.parameter(`bias${n}`, [to])];
    const conv = m.add('Conv', [x, ...weights], { pads: [2, 2, 2, 2] });
    const window = { kernel_shape: [pool, pool], strides: [pool, pool] };
    return m.add('MaxPool', [m.add('Relu', [conv])], window);
  };
  const flat = m.add('Flatten', [layer(layer('x', 1, [1, 16], 2), 2, [16, 32], 3)]);
  const y = m.add('Gemm', [flat, m.parameter('dense', [512, 10]), m.parameter('bias3', [10])]);
  return trained(m, y, { x: m.tensor([32, 1, 28, 28]), targets: m.oneHot(32, 10) });
}

/** Two layers of attention and feed-forward, norms before them, over 8 texts of 64 tokens. */
function transformer(): TrainingModel {
  const { batch, length, width, heads, hidden, tokens } = TRANSFORMER;
  const m = new ModelWriter(3);
  const product = (x: string, name: string, shape: readonly number[]): string =>
    m.add('MatMul', [x, m.parameter(name, shape)]);
  const norm = (x: string, name: string): string =>
    m.add('LayerNormalization', [x, m.parameter(`${name}.scale`, [width]), m.splat(width, 0)]);
  const future = Float32Array.from({ length: length * length }, (_, i) =>
    i % length > Math.floor(i / length) ? -1e9 : 0,
  );
  const mask = m.constant(new HostTensor('float32', [length, length], future));
  const size = { batch, length, width, heads, rows: [batch * length] };
  let stream = product('x', 'embed', [tokens, width]);
  for (const layer of ['l0', 'l1']) {
    const project = (from: string, which: string) =>
      product(from, `${layer}.${which}`, [width, width]);
    const mixed = m.attention(norm(stream, `${layer}.n1`), size, project, mask);
    stream = m.add('Add', [stream, mixed]);
    const up = product(norm(stream, `${layer}.n2`), `${layer}.up`, [width, hidden]);
    const down = product(m.add('Relu', [up]), `${layer}.down`, [hidden, width]);
    stream = m.add('Add', [stream, down]);
  }
  const y = product(norm(stream, 'n'), 'head', [width, tokens]);
  const rows = batch * length;
  return trained(m, y, { x: m.oneHot(rows, tokens), targets: m.oneHot(rows, tokens) });
}
