import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { OnnxModelSpec } from '../../../testing/onnx-writer.ts';
import { randomTensor } from '../../../testing/random-tensor.ts';
import type { SmallModel } from './quantized-models.ts';

const scalar = (value: number): HostTensor => HostTensor.from('float32', [], [value]);

/** A classifier as exporters write it, one value of which is both an output and read. */
const classifier: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: [2, 4, 6, 6] }],
  nodes: [
    {
      op: 'Conv',
      name: 'conv',
      inputs: ['x', 'w', 'b'],
      outputs: ['a'],
      attributes: { kernel_shape: [3, 3], pads: [1, 1, 1, 1] },
    },
    { op: 'Relu', name: 'relu', inputs: ['a'], outputs: ['r'] },
    { op: 'GlobalAveragePool', name: 'pool', inputs: ['r'], outputs: ['p'] },
    { op: 'Flatten', name: 'flat', inputs: ['p'], outputs: ['f'] },
    { op: 'Gemm', name: 'gemm', inputs: ['f', 'v', 'c'], outputs: ['logits'] },
    { op: 'Softmax', name: 'softmax', inputs: ['logits'], outputs: ['y'] },
  ],
  initializers: {
    w: randomTensor([8, 4, 3, 3], 1),
    b: randomTensor([8], 2),
    v: randomTensor([8, 40], 3),
    c: randomTensor([40], 4),
  },
  outputs: ['y', 'logits'],
  outputTypes: { y: { shape: [2, 40] }, logits: { shape: [2, 40] } },
};

const branch = (op: string): OnnxModelSpec => ({
  nodes: [{ op, name: `branch ${op}`, inputs: ['a'], outputs: [`of ${op}`] }],
  outputs: [`of ${op}`],
  outputTypes: { [`of ${op}`]: { shape: [3, 16] } },
});

/** Values beyond float16 and constants too small for it, operators that it lacks, and a branch. */
const limits: OnnxModelSpec = {
  inputs: [
    { name: 'x', shape: [3, 32] },
    { name: 'flag', dtype: 'bool', shape: [] },
  ],
  nodes: [
    { op: 'MatMul', name: 'product', inputs: ['x', 'w'], outputs: ['a'] },
    { op: 'Mul', name: 'beyond', inputs: ['a', 'million'], outputs: ['large'] },
    { op: 'Mul', name: 'tiny', inputs: ['large', 'millionth'], outputs: ['back'] },
    { op: 'Exp', name: 'exp', inputs: ['back'], outputs: ['e'] },
    { op: 'Log', name: 'log', inputs: ['e'], outputs: ['l'] },
    { op: 'Celu', name: 'celu', inputs: ['l'], outputs: ['k'] },
    {
      op: 'If',
      name: 'if',
      inputs: ['flag'],
      outputs: ['t'],
      attributes: {
        then_branch: { graph: branch('Tanh') },
        else_branch: { graph: branch('Relu') },
      },
    },
    { op: 'Add', name: 'add', inputs: ['k', 't'], outputs: ['s'] },
    { op: 'Sigmoid', name: 'sigmoid', inputs: ['s'], outputs: ['y'] },
  ],
  initializers: {
    w: randomTensor([32, 16], 5),
    million: scalar(1e6),
    millionth: scalar(1.3e-7),
  },
  outputs: ['y'],
  outputTypes: { y: { shape: [3, 16] } },
};

/** A transformer's feed-forward layer, with values of types that do not change beside. */
const mixed: OnnxModelSpec = {
  opset: 18,
  inputs: [{ name: 'ids', dtype: 'int64', shape: [5] }],
  nodes: [
    { op: 'Gather', name: 'embed', inputs: ['table', 'ids'], outputs: ['h'] },
    { op: 'LayerNormalization', name: 'norm', inputs: ['h', 'g', 'g0'], outputs: ['n'] },
    { op: 'MatMul', name: 'up', inputs: ['n', 'w'], outputs: ['u'] },
    { op: 'Relu', name: 'relu', inputs: ['u'], outputs: ['r'] },
    { op: 'Pow', name: 'pow', inputs: ['r', 'two'], outputs: ['q'] },
    { op: 'MatMul', name: 'down', inputs: ['q', 'v'], outputs: ['d'] },
    { op: 'Add', name: 'residual', inputs: ['h', 'd'], outputs: ['s'] },
    { op: 'Cast', name: 'number', inputs: ['ids'], outputs: ['i'], attributes: { to: 1 } },
    { op: 'Unsqueeze', name: 'column', inputs: ['i', 'one'], outputs: ['j'] },
    { op: 'Mul', name: 'scaled', inputs: ['s', 'j'], outputs: ['m'] },
    { op: 'Greater', name: 'greater', inputs: ['m', 's'], outputs: ['bigger'] },
    { op: 'Where', name: 'where', inputs: ['bigger', 's', 'm'], outputs: ['y'] },
  ],
  initializers: {
    table: randomTensor([11, 24], 6),
    g: randomTensor([24], 7),
    g0: randomTensor([24], 8),
    w: randomTensor([24, 32], 9),
    v: randomTensor([32, 24], 10),
    two: HostTensor.from('int64', [], [2n]),
    one: HostTensor.from('int64', [1], [1n]),
  },
  outputs: ['y'],
  outputTypes: { y: { shape: [5, 24] } },
};

const WEIGHTS = 'weights of float16';
const halves = (count: number): string[] => Array.from({ length: count }, () => 'float16');

/** Models that become float16, whose outputs in onnxruntime-node lie beside, by name. */
export const FLOAT16_MODELS: Readonly<Record<string, SmallModel>> = {
  'classifier in float16': { spec: classifier, options: { bits: 16 }, becomes: halves(6) },
  'weights of a classifier in float16': {
    spec: classifier,
    options: { bits: 16, weightsOnly: true },
    becomes: [WEIGHTS, WEIGHTS],
  },
  'what float16 does not hold': {
    spec: limits,
    options: { bits: 16, ranges: { a: [-3, 3], e: [0, 40_000], l: [-9, 10] } },
    becomes: halves(3),
  },
  'types beside float16': { spec: mixed, options: { bits: 16 }, becomes: halves(11) },
};
