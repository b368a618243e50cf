import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { seededRandom } from '../../../src/core/random.ts';
import { writeOnnxModel } from '../../../src/testing/onnx-writer.ts';

const random = seededRandom(20);

function weights(shape: readonly number[]): HostTensor {
  const count = shape.reduce((product, size) => product * size, 1);
  const scale = 1 / Math.sqrt(count / (shape.at(-1) ?? 1));
  const elements = Array.from({ length: count }, () => (random() - 0.5) * 2 * scale);
  return HostTensor.from('float32', shape, elements);
}

const ints = (values: readonly number[], shape: readonly number[] = [values.length]) =>
  HostTensor.from('int64', shape, values.map(BigInt));

export const INPUT_SHAPE = [1, 8, 12, 12] as const;

/** A class of kernels, and the node of the model that one of it computes. */
export interface PlantedClass {
  readonly title: string;
  /** The beginning of its shader's label. */
  readonly label: string;
  readonly node: string;
}

/** Kernels of these classes, one behind the other. */
export const CLASSES: readonly PlantedClass[] = [
  { title: 'convolution', label: 'conv2d', node: 'convolve' },
  { title: 'pooling', label: 'window', node: 'pool' },
  { title: 'resampling', label: 'resample', node: 'enlarge' },
  { title: 'normalisation of rows', label: 'row-norm', node: 'norm' },
  { title: 'matrix product', label: 'matmul', node: 'multiply' },
  { title: 'softmax', label: 'softmax', node: 'weigh' },
  { title: 'running sum', label: 'cumulative', node: 'accumulate' },
  { title: 'places of the largest', label: 'top-k', node: 'choose' },
  { title: 'gathering', label: 'gather', node: 'choose' },
  { title: 'scattering', label: 'scatter-begin', node: 'scatter' },
  { title: 'reduction', label: 'reduce', node: 'measure' },
  { title: 'element by element', label: 'sin', node: 'wave' },
];

export const MODEL = writeOnnxModel({
  nodes: [
    {
      op: 'Conv',
      name: 'convolve',
      inputs: ['x', 'w1'],
      outputs: ['a'],
      attributes: { pads: [1, 1, 1, 1] },
    },
    {
      op: 'MaxPool',
      name: 'pool',
      inputs: ['a'],
      outputs: ['b'],
      attributes: { kernel_shape: [2, 2], strides: [2, 2] },
    },
    {
      op: 'Resize',
      name: 'enlarge',
      inputs: ['b', '', 'scales'],
      outputs: ['c'],
      attributes: { mode: 'linear' },
    },
    { op: 'Reshape', inputs: ['c', 'rows'], outputs: ['e'] },
    { op: 'LayerNormalization', name: 'norm', inputs: ['e', 'gain'], outputs: ['f'] },
    { op: 'MatMul', name: 'multiply', inputs: ['f', 'w3'], outputs: ['g'] },
    { op: 'Softmax', name: 'weigh', inputs: ['g'], outputs: ['h'] },
    { op: 'CumSum', name: 'accumulate', inputs: ['h', 'axis'], outputs: ['i'] },
    { op: 'TopK', name: 'choose', inputs: ['i', 'k'], outputs: ['j', 'places'] },
    {
      op: 'ScatterElements',
      name: 'scatter',
      inputs: ['i', 'at', 'updates'],
      outputs: ['l'],
      attributes: { axis: 1 },
    },
    { op: 'ReduceL2', name: 'measure', inputs: ['l', 'axes'], outputs: ['m'] },
    { op: 'Sin', name: 'wave', inputs: ['l'], outputs: ['n'] },
  ],
  inputs: [{ name: 'x', shape: INPUT_SHAPE }],
  outputs: ['j', 'm', 'n'],
  initializers: {
    w1: weights([8, 8, 3, 3]),
    w3: weights([144, 64]),
    gain: HostTensor.from('float32', [144], new Array(144).fill(1)),
    scales: HostTensor.from('float32', [4], [1, 1, 2, 2]),
    rows: ints([8, 144]),
    axis: ints([1], []),
    k: ints([16]),
    at: ints(
      Array.from({ length: 8 * 9 }, (_, i) => (i * 7) % 64),
      [8, 9],
    ),
    updates: weights([8, 9]),
    axes: ints([1]),
  },
});

/** Operators that make one kernel, by what the label of a shader of their own begins with, and their nodes. */
export const FUSED_NODES = [
  ['add', 'shift'],
  ['abs', 'size'],
  ['mul', 'scale'],
  ['sin', 'turn'],
] as const;

export const FUSED_MODEL = writeOnnxModel({
  nodes: [
    { op: 'Add', name: 'shift', inputs: ['x', 'b'], outputs: ['shifted'] },
    { op: 'Abs', name: 'size', inputs: ['shifted'], outputs: ['sized'] },
    { op: 'Mul', name: 'scale', inputs: ['sized', 'shifted'], outputs: ['scaled'] },
    { op: 'Sin', name: 'turn', inputs: ['scaled'], outputs: ['y'] },
  ],
  inputs: [{ name: 'x', shape: INPUT_SHAPE }],
  outputs: ['y'],
  initializers: { b: HostTensor.from('float32', [1], [0.25]) },
});
