import { expect, test } from 'vitest';
import { printModule } from '../../../compiler/ir/text/print.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { type OnnxAttribute, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { importOnnx } from '../import-onnx.ts';

interface Row {
  readonly op: string;
  readonly opset: number;
  readonly title: string;
  /** A shape is an input of the graph, a tensor an initializer, null an input that is left out. */
  readonly inputs: readonly (readonly number[] | HostTensor | null)[];
  readonly dtype?: DType;
  readonly outputs?: number;
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** The body of the imported function, line by line; or the message of the error. */
  readonly expected: readonly string[] | RegExp;
}

const ints = (...values: number[]) => HostTensor.from('int64', [values.length], values);
const float = (value: number) => HostTensor.from('float32', [], [value]);
const weights = (...shape: number[]) => HostTensor.splat('float32', shape, 1);

function importRow({ op, opset, inputs, dtype = 'float32', outputs = 1, attributes = {} }: Row) {
  const names = inputs.map((input, i) => (input === null ? '' : `x${i}`));
  const results = Array.from({ length: outputs }, (_, i) => `y${i}`);
  const initializers: Record<string, HostTensor> = {};
  for (const [i, input] of inputs.entries()) {
    if (input instanceof HostTensor) initializers[`x${i}`] = input;
  }
  const model = writeOnnxModel({
    opset,
    inputs: inputs.flatMap((input, i) =>
      input === null || input instanceof HostTensor ? [] : [{ name: `x${i}`, dtype, shape: input }],
    ),
    initializers,
    nodes: [{ op, inputs: names, outputs: results, attributes, name: 'node' }],
    outputs: results,
  });
  return printModule(importOnnx(model));
}

const ROWS: readonly Row[] = [
  {
    op: 'Add',
    opset: 6,
    title: 'broadcast along an axis',
    inputs: [[2, 3, 4], [3]],
    attributes: { broadcast: 1, axis: 1 },
    expected: ['%0 = reshape(%x1, shape=[3, 1]);', 'add(%x0, %0)'],
  },
  {
    op: 'Clip',
    opset: 6,
    title: 'bounds as attributes',
    inputs: [[2]],
    attributes: { min: { float: 0 }, max: { float: 6 } },
    expected: ['clip(%x0, min=0, max=6)'],
  },
  {
    op: 'Clip',
    opset: 13,
    title: 'bounds as inputs',
    inputs: [[2], float(0), float(6)],
    expected: ['clip(%x0, min=0, max=6)'],
  },
  {
    op: 'Clip',
    opset: 13,
    title: 'one bound, computed',
    inputs: [[2], null, []],
    expected: ['minimum(%x0, %x2)'],
  },
  {
    op: 'Conv',
    opset: 11,
    title: 'SAME_LOWER puts the odd element first',
    inputs: [[1, 1, 5, 6], weights(2, 1, 2, 3)],
    attributes: { auto_pad: 'SAME_LOWER', strides: [1, 2] },
    expected: [
      'conv2d(%x0, meta[0], strides=[1, 2], pads=[1, 1, 0, 0], dilations=[1, 1], groups=1)',
    ],
  },
  {
    op: 'Conv',
    opset: 11,
    title: 'one axis',
    inputs: [[1, 2, 8], weights(4, 1, 3), weights(4)],
    attributes: { group: 2, pads: [2, 1], dilations: [2] },
    expected: [
      '%0 = reshape(%x0, shape=[1, 2, 1, 8]);',
      '%1 = reshape(meta[0], shape=[4, 1, 1, 3]);',
      '%2 = conv2d(%0, %1, [1f, 1f, 1f, 1f], strides=[1, 1], pads=[0, 2, 0, 1], dilations=[1, 2], groups=2);',
      'reshape(%2, shape=[1, 4, 7])',
    ],
  },
  {
    op: 'Conv',
    opset: 11,
    title: 'three axes',
    inputs: [[1, 1, 4, 4, 4], weights(1, 1, 2, 2, 2)],
    expected: [
      'conv3d(%x0, meta[0], strides=[1, 1, 1], pads=[0, 0, 0, 0, 0, 0], dilations=[1, 1, 1], groups=1)',
    ],
  },
  {
    op: 'Conv',
    opset: 11,
    title: 'a kernel_shape that the weights do not have',
    inputs: [[1, 1, 4, 4], weights(1, 1, 2, 2)],
    attributes: { kernel_shape: [3, 3] },
    expected:
      /node "node" \(Conv\): got kernel_shape \(3, 3\), expected that of the weights, \(2, 2\)/,
  },
  {
    op: 'MaxPool',
    opset: 12,
    title: 'ceil_mode',
    inputs: [[1, 1, 5, 5]],
    attributes: { kernel_shape: [2, 2], strides: [2, 2], ceil_mode: 1 },
    expected: [
      'max_pool(%x0, kernel=[2, 2], strides=[2, 2], pads=[0, 0, 0, 0], dilations=[1, 1], ceil_mode=true)',
    ],
  },
  {
    op: 'AveragePool',
    opset: 7,
    title: 'count_include_pad, SAME_UPPER',
    inputs: [[1, 1, 5, 5]],
    attributes: { kernel_shape: [2, 2], auto_pad: 'SAME_UPPER', count_include_pad: 1 },
    expected: [
      'avg_pool(%x0, kernel=[2, 2], strides=[1, 1], pads=[0, 0, 1, 1], dilations=[1, 1], ceil_mode=false, count_include_pad=true)',
    ],
  },
  {
    op: 'BatchNormalization',
    opset: 7,
    title: 'spatial = 0',
    inputs: [
      [1, 2, 3],
      [2, 3],
      [2, 3],
      [2, 3],
      [2, 3],
    ],
    attributes: { spatial: 0, epsilon: { float: 0.5 } },
    expected: [
      '%0 = sub(%x0, %x3);',
      '%1 = add(%x4, 0.5f);',
      '%2 = sqrt(%1);',
      '%3 = div(%0, %2);',
      '%4 = mul(%3, %x1);',
      'add(%4, %x2)',
    ],
  },
  {
    op: 'BatchNormalization',
    opset: 6,
    title: 'training mode',
    inputs: [[1, 2, 3], weights(2), weights(2), weights(2), weights(2)],
    expected: /got training mode, expected inference. Export the model for inference/,
  },
  {
    op: 'Gemm',
    opset: 11,
    title: 'without c',
    inputs: [
      [3, 2],
      [4, 3],
    ],
    attributes: { alpha: { float: 0.5 }, transA: 1, transB: 1 },
    expected: ['gemm(%x0, %x1, alpha=0.5, beta=1, trans_a=true, trans_b=true)'],
  },
  {
    op: 'Softmax',
    opset: 11,
    title: 'rows of a matrix',
    inputs: [[2, 3, 4]],
    attributes: { axis: 1 },
    expected: [
      '%0 = reshape(%x0, shape=[2, 12]);',
      '%1 = softmax(%0, axis=1);',
      'reshape(%1, shape=[2, 3, 4])',
    ],
  },
  {
    op: 'Softmax',
    opset: 13,
    title: 'one axis',
    inputs: [[2, 3, 4]],
    attributes: { axis: 1 },
    expected: ['softmax(%x0, axis=1)'],
  },
  {
    op: 'ReduceSum',
    opset: 11,
    title: 'axes as an attribute',
    inputs: [[2, 3]],
    attributes: { axes: [-1], keepdims: 0 },
    expected: ['reduce_sum(%x0, axes=[1], keepdims=false)'],
  },
  {
    op: 'ReduceSum',
    opset: 13,
    title: 'axes as an input',
    inputs: [[2, 3], ints(1, 0)],
    expected: ['reduce_sum(%x0, axes=[0, 1], keepdims=true)'],
  },
  {
    op: 'ReduceSum',
    opset: 13,
    title: 'nothing to reduce',
    inputs: [[2, 3]],
    attributes: { noop_with_empty_axes: 1 },
    expected: ['%x0'],
  },
  {
    op: 'ReduceMean',
    opset: 13,
    title: 'all axes',
    inputs: [[2, 3]],
    expected: ['reduce_mean(%x0, axes=[0, 1], keepdims=true)'],
  },
  {
    op: 'Reshape',
    opset: 13,
    title: '0 keeps and -1 fills',
    inputs: [[2, 3, 4], ints(0, -1)],
    expected: ['reshape(%x0, shape=[2, 12])'],
  },
  {
    op: 'Reshape',
    opset: 14,
    title: 'allowzero',
    inputs: [[0, 3], ints(3, 0)],
    attributes: { allowzero: 1 },
    expected: ['reshape(%x0, shape=[3, 0])'],
  },
  {
    op: 'Reshape',
    opset: 13,
    title: 'a shape that does not fit',
    inputs: [[2, 3], ints(4, -1)],
    expected: /got shape \(4, -1\), expected one that \(2, 3\) fits/,
  },
  {
    op: 'Squeeze',
    opset: 11,
    title: 'all axes of size 1',
    inputs: [[1, 3, 1]],
    expected: ['reshape(%x0, shape=[3])'],
  },
  {
    op: 'Unsqueeze',
    opset: 13,
    title: 'axes as an input',
    inputs: [[3], ints(0, -1)],
    expected: ['reshape(%x0, shape=[1, 3, 1])'],
  },
  {
    op: 'Flatten',
    opset: 11,
    title: 'negative axis',
    inputs: [[2, 3, 4]],
    attributes: { axis: -1 },
    expected: ['reshape(%x0, shape=[6, 4])'],
  },
  {
    op: 'Slice',
    opset: 9,
    title: 'attributes',
    inputs: [[4, 5]],
    attributes: { starts: [1], ends: [2 ** 53], axes: [1] },
    expected: ['slice(%x0, starts=[0, 1], ends=[4, 5], steps=[1, 1])'],
  },
  {
    op: 'Slice',
    opset: 10,
    title: 'inputs, backwards',
    inputs: [[4, 5], ints(-1), ints(-9e15), ints(0), ints(-2)],
    expected: ['slice(%x0, starts=[-1, 0], ends=[-5, 5], steps=[-2, 1])'],
  },
  {
    op: 'Split',
    opset: 18,
    title: 'uneven parts',
    inputs: [[5]],
    outputs: 2,
    attributes: { num_outputs: 2 },
    expected: [
      '%0 = slice(%x0, starts=[0], ends=[3], steps=[1]);',
      '%1 = slice(%x0, starts=[3], ends=[5], steps=[1]);',
      '(%0, %1)',
    ],
  },
  {
    op: 'Pad',
    opset: 2,
    title: 'attributes',
    inputs: [[2, 3]],
    attributes: { pads: [0, 1, 0, 2], value: { float: 1.5 } },
    expected: ['pad(%x0, pads=[0, 1, 0, 2], mode="constant", value=1.5)'],
  },
  {
    op: 'Pad',
    opset: 18,
    title: 'inputs, some axes',
    inputs: [[2, 3], ints(1, 2), null, ints(-1)],
    attributes: { mode: 'edge' },
    expected: ['pad(%x0, pads=[0, 1, 0, 2], mode="edge", value=0)'],
  },
  {
    op: 'Gather',
    opset: 13,
    title: 'computed indices',
    inputs: [weights(5, 4), [2, 3]],
    dtype: 'int64',
    expected: ['gather(meta[0], %x1, axis=0)'],
  },
  {
    op: 'LayerNormalization',
    opset: 17,
    title: 'along the last axis',
    inputs: [[2, 3], [3], [3]],
    attributes: { epsilon: { float: 0.5 } },
    expected: ['%0 = layer_norm(%x0, epsilon=0.5);', '%1 = mul(%0, %x1);', 'add(%1, %x2)'],
  },
  {
    op: 'LayerNormalization',
    opset: 17,
    title: 'along several axes',
    inputs: [
      [2, 3, 4],
      [3, 4],
    ],
    attributes: { axis: 1 },
    expected: [
      '%0 = reshape(%x0, shape=[2, 12]);',
      '%1 = layer_norm(%0, epsilon=0.00001);',
      '%2 = reshape(%1, shape=[2, 3, 4]);',
      'mul(%2, %x1)',
    ],
  },
  {
    op: 'Gelu',
    opset: 20,
    title: 'by tanh',
    inputs: [[2]],
    attributes: { approximate: 'tanh' },
    expected: ['gelu(%x0, approximate="tanh")'],
  },
  {
    op: 'Gather',
    opset: 13,
    title: 'a computed tensor at constant indices',
    inputs: [[3, 4], ints(2, -3)],
    expected: [
      '%0 = slice(%x0, starts=[2, 0], ends=[3, 4], steps=[1, 1]);',
      '%1 = slice(%x0, starts=[0, 0], ends=[1, 4], steps=[1, 1]);',
      '%2 = concat(%0, %1, axis=0);',
      'reshape(%2, shape=[2, 4])',
    ],
  },
  {
    op: 'Gather',
    opset: 13,
    title: 'a constant',
    inputs: [ints(5, 6, 7), HostTensor.from('int64', [], [-1])],
    expected: ['7i64'],
  },
  {
    op: 'Shape',
    opset: 15,
    title: 'a part',
    inputs: [[2, 3, 4]],
    attributes: { start: -2 },
    expected: ['[3i64, 4i64]'],
  },
  {
    op: 'ConstantOfShape',
    opset: 9,
    title: 'a splat',
    inputs: [ints(512, 512, 3, 3)],
    attributes: { value: HostTensor.from('float32', [1], [0.5]) },
    expected: ['meta[0]'],
  },
  {
    op: 'Div',
    opset: 13,
    title: 'int64 constants, towards zero',
    inputs: [ints(-7, 7), ints(2)],
    expected: ['[-3i64, 3i64]'],
  },
  {
    op: 'Cast',
    opset: 13,
    title: 'a constant',
    inputs: [HostTensor.from('float32', [2], [1.9, -1.9])],
    attributes: { to: 7 },
    expected: ['[1i64, -1i64]'],
  },
  {
    op: 'Cast',
    opset: 13,
    title: 'to strings',
    inputs: [[2]],
    attributes: { to: 8 },
    expected: /string/,
  },
  {
    op: 'Dropout',
    opset: 12,
    title: 'inference',
    inputs: [[2], float(0.5)],
    expected: ['%x0'],
  },
  {
    op: 'Sum',
    opset: 8,
    title: 'three',
    inputs: [[2], [2], [1]],
    expected: ['%0 = add(%x0, %x1);', 'add(%0, %x2)'],
  },
  {
    op: 'DepthToSpace',
    opset: 13,
    title: 'CRD',
    inputs: [[1, 8, 2, 3]],
    attributes: { blocksize: 2, mode: 'CRD' },
    expected: [
      '%0 = reshape(%x0, shape=[1, 2, 2, 2, 2, 3]);',
      '%1 = transpose(%0, perm=[0, 1, 4, 2, 5, 3]);',
      'reshape(%1, shape=[1, 2, 4, 6])',
    ],
  },
  {
    op: 'Relu',
    opset: 13,
    title: 'without its input',
    inputs: [],
    expected: /node "node" \(Relu\): got no input 0, expected an input there for Relu of opset 13/,
  },
];

test.each(ROWS)('$op of opset $opset: $title', (row) => {
  const { expected } = row;
  if (expected instanceof RegExp) {
    expect(() => importRow(row)).toThrow(expected);
    return;
  }
  const lines = importRow(row).split('\n');
  const body = lines.slice(1, lines.indexOf('}')).map((line) => line.trim());
  expect(body).toEqual(expected);
});
