import { elementCount } from '../../../core/tensor/element-count.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { randomTensor } from '../../../testing/random-tensor.ts';
import type { QuantizeOptions } from '../quantize-options.ts';

/** A small float model with the nodes that its weights are in, and how it is quantised. */
export interface SmallModel {
  readonly spec: OnnxModelSpec;
  readonly options: QuantizeOptions;
  /** The replacement of each layer, in words and in order. */
  readonly becomes: readonly string[];
}

const ints = (...values: readonly number[]): HostTensor =>
  HostTensor.from('int64', [values.length], values.map(BigInt));

const INT8 = 'weights of int8, a scale per channel';
const product = (bits: number, block: number): string =>
  `MatMulNBits, ${bits} bits in blocks of ${block}`;

const matmul: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [3, 70] }],
  nodes: [{ op: 'MatMul', name: 'product', inputs: ['x', 'w'], outputs: ['y'] }],
  initializers: { w: randomTensor([70, 12], 1) },
  outputs: ['y'],
  outputTypes: { y: { shape: [3, 12] } },
};

const gemm: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [3, 64] }],
  nodes: [
    {
      op: 'Gemm',
      name: 'gemm',
      inputs: ['x', 'w', 'b'],
      outputs: ['y'],
      attributes: { transB: 1, alpha: { float: 0.5 }, beta: { float: 2 } },
    },
  ],
  initializers: { w: randomTensor([12, 64], 2), b: randomTensor([12], 3) },
  outputs: ['y'],
  outputTypes: { y: { shape: [3, 12] } },
};

/** Weights behind nodes: transposed, in another shape, of a node `Constant`. */
const behindNodes: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [2, 64] }],
  nodes: [
    { op: 'Transpose', inputs: ['w'], outputs: ['turned'], attributes: { perm: [1, 0] } },
    { op: 'MatMul', inputs: ['x', 'turned'], outputs: ['a'] },
    { op: 'Reshape', inputs: ['v', 'sizes'], outputs: ['flat'] },
    { op: 'MatMul', inputs: ['a', 'flat'], outputs: ['b'] },
    { op: 'Constant', outputs: ['c'], attributes: { value: randomTensor([48, 8], 6) } },
    { op: 'Identity', inputs: ['c'], outputs: ['same'] },
    { op: 'MatMul', inputs: ['b', 'same'], outputs: ['y'] },
  ],
  initializers: {
    w: randomTensor([64, 64], 4),
    v: randomTensor([4, 16, 6, 8], 5),
    sizes: ints(64, -1),
  },
  outputs: ['y'],
  outputTypes: { y: { shape: [2, 8] } },
};

const conv = (opset: number): OnnxModelSpec => ({
  opset,
  inputs: [{ name: 'x', shape: [1, 4, 6, 6] }],
  nodes: [
    {
      op: 'Conv',
      name: 'first',
      inputs: ['x', 'w', 'b'],
      outputs: ['a'],
      attributes: { kernel_shape: [3, 3], pads: [1, 1, 1, 1] },
    },
    { op: 'Relu', inputs: ['a'], outputs: ['r'] },
    { op: 'ConvTranspose', name: 'second', inputs: ['r', 'v'], outputs: ['y'] },
  ],
  initializers: {
    w: randomTensor([8, 4, 3, 3], 7),
    b: randomTensor([8], 8),
    v: randomTensor([8, 5, 2, 2], 9),
  },
  outputs: ['y'],
  outputTypes: { y: { shape: [1, 5, 7, 7] } },
});

const recurrent: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [4, 1, 6] }],
  nodes: [
    {
      op: 'LSTM',
      name: 'lstm',
      inputs: ['x', 'w', 'r'],
      outputs: ['', 'y'],
      attributes: { hidden_size: 5 },
    },
  ],
  initializers: { w: randomTensor([1, 20, 6], 10), r: randomTensor([1, 20, 5], 11) },
  outputs: ['y'],
  outputTypes: { y: { shape: [1, 1, 5] } },
};

/** Several constant matrices, and one on the left. */
const operands: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [2, 3, 32] }],
  nodes: [
    { op: 'MatMul', name: 'several', inputs: ['x', 'w'], outputs: ['a'] },
    { op: 'MatMul', name: 'left', inputs: ['v', 'a'], outputs: ['y'] },
  ],
  initializers: { w: randomTensor([2, 32, 8], 12), v: randomTensor([9, 3], 13) },
  outputs: ['y'],
  outputTypes: { y: { shape: [2, 9, 8] } },
};

const branch = (weights: string): OnnxModelSpec => ({
  nodes: [
    { op: 'MatMul', name: `by ${weights}`, inputs: ['x', weights], outputs: [`of ${weights}`] },
  ],
  outputs: [`of ${weights}`],
  outputTypes: { [`of ${weights}`]: { shape: [2, 16] } },
  ...(weights === 'inner' && { initializers: { inner: randomTensor([64, 16], 15) } }),
});

/** Products in both branches, by a matrix of the graph around and one of its own. */
const branches: OnnxModelSpec = {
  inputs: [
    { name: 'x', shape: [2, 64] },
    { name: 'flag', dtype: 'bool', shape: [] },
  ],
  nodes: [
    {
      op: 'If',
      inputs: ['flag'],
      outputs: ['y'],
      attributes: { then_branch: { graph: branch('w') }, else_branch: { graph: branch('inner') } },
    },
  ],
  initializers: { w: randomTensor([64, 16], 14) },
  outputs: ['y'],
  outputTypes: { y: { shape: [2, 16] } },
};

/** Models whose outputs in onnxruntime-node lie beside, by name. */
export const SMALL_MODELS: Readonly<Record<string, SmallModel>> = {
  'product of 8 bits': { spec: matmul, options: {}, becomes: [product(8, 32)] },
  'symmetric product of 8 bits': {
    spec: matmul,
    options: { symmetric: true, block: 16 },
    becomes: [product(8, 16)],
  },
  'product of 4 bits': { spec: matmul, options: { bits: 4 }, becomes: [product(4, 32)] },
  'symmetric product of 4 bits': {
    spec: matmul,
    options: { bits: 4, block: 16, symmetric: true },
    becomes: [product(4, 16)],
  },
  gemm: { spec: gemm, options: { block: 64 }, becomes: [product(8, 64)] },
  'weights behind nodes': {
    spec: behindNodes,
    options: { bits: 4 },
    becomes: [product(4, 32), product(4, 32), product(4, 32)],
  },
  convolutions: { spec: conv(17), options: {}, becomes: [INT8, INT8] },
  'convolutions of an old operator set': { spec: conv(9), options: {}, becomes: [INT8, INT8] },
  'calibrated convolutions': {
    spec: conv(17),
    options: { ranges: { x: [-2, 2], r: [0, 32] } },
    becomes: [INT8, INT8],
  },
  'calibrated convolutions of an old operator set': {
    spec: conv(11),
    options: { ranges: { x: [-2, 2], r: [0, 32] } },
    becomes: [INT8, INT8],
  },
  recurrent: { spec: recurrent, options: {}, becomes: [INT8] },
  operands: { spec: operands, options: {}, becomes: [INT8, INT8] },
  branches: { spec: branches, options: { bits: 4 }, becomes: [product(4, 32), product(4, 32)] },
};

export const bytesOf = ({ spec }: SmallModel): Uint8Array => writeOnnxModel(spec);

/** Inputs of a model, always the same: floats from -2 to 2, integers from 0 up, and true. */
export function inputsOf({ spec }: SmallModel): Readonly<Record<string, HostTensor>> {
  const given = (spec.inputs ?? []).map(({ name, dtype, shape }, i) => {
    const sizes = shape.map(Number);
    if (dtype === 'bool') return [name, HostTensor.splat('bool', [], 1)] as const;
    if (dtype !== 'int64') return [name, randomTensor(sizes, 100 + i)] as const;
    const indices = Array.from({ length: elementCount(sizes) }, (_, index) => BigInt(index));
    return [name, HostTensor.from('int64', sizes, indices)] as const;
  });
  return Object.fromEntries(given);
}
