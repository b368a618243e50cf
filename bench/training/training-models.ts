import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../src/core/random.ts';
import {
  type OnnxModelSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../src/testing/onnx-writer.ts';
import { TRANSFORMER } from './transformer-sizes.ts';

/** A model that is trained, written as exporters write it. */
export interface TrainingModel {
  readonly onnx: Uint8Array;
  /** The parameters that are trained, by the names that the peers know. */
  readonly parameters: Readonly<Record<string, HostTensor>>;
  readonly x: HostTensor;
  /** Probabilities of the classes, in the shape of the model's output. */
  readonly targets: HostTensor;
}

type Shapes = Readonly<Record<string, readonly number[]>>;

/** Uniform numbers of the variance 1 / fan-in; vectors are zeros, those of norms ones. */
function parametersOf(shapes: Shapes, random: () => number): Record<string, HostTensor> {
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const count = shape.reduce((product, dim) => product * dim, 1);
    const fanIn = shape.length === 4 ? count / (shape[0] ?? 1) : (shape[0] ?? 1);
    const bound = shape.length === 1 ? 0 : Math.sqrt(3 / fanIn);
    const one = name.endsWith('scale') ? 1 : 0;
    const values = Array.from({ length: count }, () => one + bound * (2 * random() - 1));
    return [name, HostTensor.from('float32', shape, values)] as const;
  });
  return Object.fromEntries(entries);
}

function randomTensor(shape: readonly number[], random: () => number): HostTensor {
  const count = shape.reduce((product, dim) => product * dim, 1);
  return HostTensor.from('float32', shape, Array.from({ length: count }, random));
}

/** Rows that are one at a random place. */
function oneHot(rows: number, classes: number, random: () => number): HostTensor {
  const values = new Array<number>(rows * classes).fill(0);
  for (let row = 0; row < rows; row++) values[row * classes + Math.floor(random() * classes)] = 1;
  return HostTensor.from('float32', [rows, classes], values);
}

function model(
  shapes: Shapes,
  given: Omit<OnnxModelSpec, 'initializers' | 'inputs' | 'outputs'> & {
    readonly x: HostTensor;
    readonly targets: HostTensor;
    readonly random: () => number;
    readonly constants?: Readonly<Record<string, HostTensor>>;
  },
): TrainingModel {
  const { x, targets, random, constants = {}, ...spec } = given;
  const parameters = parametersOf(shapes, random);
  const onnx = writeOnnxModel({
    opset: 20,
    ...spec,
    inputs: [{ name: 'x', shape: x.shape }],
    outputs: ['y'],
    initializers: { ...parameters, ...constants },
  });
  return { onnx, parameters, x, targets };
}

/** Three layers over 128 rows of 784 numbers. */
export function mlp(): TrainingModel {
  const random = seededRandom(1);
  return model(
    { w1: [784, 256], b1: [256], w2: [256, 128], b2: [128], w3: [128, 10], b3: [10] },
    {
      x: randomTensor([128, 784], random),
      targets: oneHot(128, 10, random),
      random,
      nodes: [
        { op: 'Gemm', inputs: ['x', 'w1', 'b1'], outputs: ['h1'] },
        { op: 'Relu', inputs: ['h1'], outputs: ['r1'] },
        { op: 'Gemm', inputs: ['r1', 'w2', 'b2'], outputs: ['h2'] },
        { op: 'Relu', inputs: ['h2'], outputs: ['r2'] },
        { op: 'Gemm', inputs: ['r2', 'w3', 'b3'], outputs: ['y'] },
      ],
    },
  );
}

/** The digit network: two convolutions with pooling, and a dense layer, over 32 images. */
export function digits(): TrainingModel {
  const random = seededRandom(2);
  const conv = (x: string, w: string, b: string, y: string): OnnxNodeSpec => ({
    op: 'Conv',
    inputs: [x, w, b],
    outputs: [y],
    attributes: { pads: [2, 2, 2, 2] },
  });
  const pool = (x: string, y: string, size: number): OnnxNodeSpec => ({
    op: 'MaxPool',
    inputs: [x],
    outputs: [y],
    attributes: { kernel_shape: [size, size], strides: [size, size] },
  });
  return model(
    {
      conv1: [16, 1, 5, 5],
      bias1: [16],
      conv2: [32, 16, 5, 5],
      bias2: [32],
      dense: [512, 10],
      bias3: [10],
    },
    {
      x: randomTensor([32, 1, 28, 28], random),
      targets: oneHot(32, 10, random),
      random,
      nodes: [
        conv('x', 'conv1', 'bias1', 'c1'),
        { op: 'Relu', inputs: ['c1'], outputs: ['r1'] },
        pool('r1', 'p1', 2),
        conv('p1', 'conv2', 'bias2', 'c2'),
        { op: 'Relu', inputs: ['c2'], outputs: ['r2'] },
        pool('r2', 'p2', 3),
        { op: 'Flatten', inputs: ['p2'], outputs: ['flat'] },
        { op: 'Gemm', inputs: ['flat', 'dense', 'bias3'], outputs: ['y'] },
      ],
    },
  );
}

/** Two layers of attention and feed-forward, norms before them, over 8 texts of 64 tokens. */
export function transformer(): TrainingModel {
  const random = seededRandom(3);
  const { batch, length, width, heads, hidden, tokens } = TRANSFORMER;
  const rows = batch * length;
  const nodes: OnnxNodeSpec[] = [{ op: 'MatMul', inputs: ['x', 'embed'], outputs: ['s0'] }];
  const shapes: Record<string, readonly number[]> = { embed: [tokens, width] };
  for (const layer of [0, 1]) {
    const of = (name: string) => `l${layer}.${name}`;
    for (const name of ['q', 'k', 'v', 'o']) shapes[of(name)] = [width, width];
    Object.assign(shapes, {
      [of('up')]: [width, hidden],
      [of('down')]: [hidden, width],
      [of('n1.scale')]: [width],
      [of('n2.scale')]: [width],
    });
    nodes.push(...attention(of, `s${2 * layer}`, `s${2 * layer + 1}`));
    nodes.push(
      norm(`s${2 * layer + 1}`, of('n2.scale'), of('n2')),
      { op: 'MatMul', inputs: [of('n2'), of('up')], outputs: [of('u')] },
      { op: 'Relu', inputs: [of('u')], outputs: [of('r')] },
      { op: 'MatMul', inputs: [of('r'), of('down')], outputs: [of('d')] },
      { op: 'Add', inputs: [`s${2 * layer + 1}`, of('d')], outputs: [`s${2 * layer + 2}`] },
    );
  }
  Object.assign(shapes, { 'n.scale': [width], head: [width, tokens] });
  nodes.push(norm('s4', 'n.scale', 'n'), { op: 'MatMul', inputs: ['n', 'head'], outputs: ['y'] });
  const int64s = (values: readonly number[]) =>
    HostTensor.from('int64', [values.length], values.map(BigInt));
  return model(shapes, {
    x: oneHot(rows, tokens, random),
    targets: oneHot(rows, tokens, random),
    random,
    nodes,
    constants: {
      split: int64s([batch, length, heads, width / heads]),
      join: int64s([rows, width]),
      root: HostTensor.from('float32', [], [Math.sqrt(width / heads)]),
      mask: HostTensor.from(
        'float32',
        [length, length],
        Array.from({ length: length * length }, (_, i) =>
          i % length > Math.floor(i / length) ? -1e9 : 0,
        ),
      ),
      zero: HostTensor.from('float32', [width], new Array<number>(width).fill(0)),
    },
  });
}

function norm(x: string, scale: string, y: string): OnnxNodeSpec {
  return { op: 'LayerNormalization', inputs: [x, scale, 'zero'], outputs: [y] };
}

function attention(of: (name: string) => string, from: string, to: string): OnnxNodeSpec[] {
  const heads = ['q', 'k', 'v'].flatMap((name): OnnxNodeSpec[] => [
    { op: 'MatMul', inputs: [of('n1'), of(name)], outputs: [of(`${name}1`)] },
    { op: 'Reshape', inputs: [of(`${name}1`), 'split'], outputs: [of(`${name}2`)] },
    {
      op: 'Transpose',
      inputs: [of(`${name}2`)],
      outputs: [of(`${name}3`)],
      attributes: { perm: name === 'k' ? [0, 2, 3, 1] : [0, 2, 1, 3] },
    },
  ]);
  return [
    norm(from, of('n1.scale'), of('n1')),
    ...heads,
    { op: 'MatMul', inputs: [of('q3'), of('k3')], outputs: [of('dots')] },
    { op: 'Div', inputs: [of('dots'), 'root'], outputs: [of('scaled')] },
    { op: 'Add', inputs: [of('scaled'), 'mask'], outputs: [of('masked')] },
    { op: 'Softmax', inputs: [of('masked')], outputs: [of('a')], attributes: { axis: -1 } },
    { op: 'MatMul', inputs: [of('a'), of('v3')], outputs: [of('mixed')] },
    {
      op: 'Transpose',
      inputs: [of('mixed')],
      outputs: [of('turned')],
      attributes: { perm: [0, 2, 1, 3] },
    },
    { op: 'Reshape', inputs: [of('turned'), 'join'], outputs: [of('joined')] },
    { op: 'MatMul', inputs: [of('joined'), of('o')], outputs: [of('out')] },
    { op: 'Add', inputs: [from, of('out')], outputs: [to] },
  ];
}
