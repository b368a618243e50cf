import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../../device/host/host-device.ts';
import { AdtValue, TensorValue } from '../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../runtime/virtual-machine.ts';
import { type OnnxAttribute, writeOnnxModel } from '../../../testing/onnx-writer.ts';
import { compileOnnx } from '../compile-onnx.ts';

interface Case {
  readonly op: string;
  readonly title: string;
  readonly opset?: number;
  readonly domain?: string;
  /** All are inputs of the graph, so that nothing is computed when compiling; null is left out. */
  readonly inputs: readonly (HostTensor | null)[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** Inputs that are initializers. */
  readonly constants?: readonly number[];
  readonly expected: readonly { readonly shape: readonly number[]; readonly values: unknown[] }[];
}

const int64s = (values: readonly number[], shape = [values.length]) =>
  HostTensor.from('int64', shape, values);
const floats = (values: readonly number[], shape = [values.length]) =>
  HostTensor.from('float32', shape, values);

async function run(given: Case): Promise<HostTensor[]> {
  const { op, opset = 18, domain, inputs, attributes = {}, constants = [] } = given;
  const names = inputs.map((input, i) => (input === null ? '' : `x${i}`));
  const outputs = given.expected.map((_, i) => `y${i}`);
  const isConstant = (i: number) => constants.includes(i);
  const used = inputs.flatMap((tensor, i) => (tensor === null ? [] : [{ tensor, i }]));
  const passed = used.filter(({ i }) => !isConstant(i));
  const bytes = writeOnnxModel({
    opset,
    ...(domain === undefined ? {} : { opsets: { [domain]: 1 } }),
    inputs: passed.map(({ tensor: { dtype, shape }, i }) => ({ name: `x${i}`, dtype, shape })),
    initializers: Object.fromEntries(
      used.filter(({ i }) => isConstant(i)).map(({ tensor, i }) => [`x${i}`, tensor]),
    ),
    nodes: [
      { op, inputs: names, outputs, attributes, ...(domain === undefined ? {} : { domain }) },
    ],
    outputs,
  });
  const device = createHostDevice();
  const vm = await VirtualMachine.create(compileOnnx(bytes), { devices: [device] });
  const result = await vm.get('main')(...passed.map(({ tensor }) => vm.tensor(tensor)));
  const fields = result instanceof AdtValue ? result.fields : [result];
  const read = await vm.read(fields.filter((field) => field instanceof TensorValue));
  vm.dispose();
  device.destroy();
  return read;
}

const CASES: readonly Case[] = [
  {
    op: 'Concat',
    title: 'more tensors than a kernel binds',
    inputs: Array.from({ length: 60 }, (_, i) => floats([i])),
    attributes: { axis: 0 },
    expected: [{ shape: [60], values: Array.from({ length: 60 }, (_, i) => i) }],
  },
  {
    op: 'Tile',
    title: 'one axis, as opset 1 has it',
    opset: 1,
    inputs: [floats([1, 2, 3, 4], [2, 2]), int64s([2]), int64s([1])],
    constants: [1, 2],
    expected: [{ shape: [2, 4], values: [1, 2, 1, 2, 3, 4, 3, 4] }],
  },
  {
    op: 'Pad',
    title: 'paddings as opset 1 calls them',
    opset: 1,
    inputs: [floats([1, 2])],
    attributes: { paddings: [1, -1], value: { float: 7 } },
    expected: [{ shape: [2], values: [7, 1] }],
  },
  {
    op: 'Pad',
    title: 'a value that is an input, an int64 that no float32 holds',
    inputs: [int64s([1, 2]), int64s([1, 1]), HostTensor.from('int64', [], [2n ** 53n + 1n])],
    constants: [1],
    expected: [{ shape: [4], values: [2n ** 53n + 1n, 1n, 2n, 2n ** 53n + 1n] }],
  },
  {
    op: 'Pad',
    title: 'an infinite value',
    inputs: [floats([1]), int64s([1, 0]), floats([-Infinity], [])],
    constants: [1, 2],
    expected: [{ shape: [2], values: [-Infinity, 1] }],
  },
  {
    op: 'Pad',
    title: 'wrap after taking away',
    opset: 19,
    inputs: [floats([1, 2, 3, 4]), int64s([-1, 2])],
    constants: [1],
    attributes: { mode: 'wrap' },
    expected: [{ shape: [5], values: [2, 3, 4, 2, 3] }],
  },
  {
    op: 'CenterCropPad',
    title: 'crops one axis and pads another',
    inputs: [floats([1, 2, 3, 4, 5], [5, 1]), int64s([2, 4])],
    constants: [1],
    expected: [{ shape: [2, 4], values: [0, 2, 0, 0, 0, 3, 0, 0] }],
  },
  {
    op: 'Split',
    title: 'an uneven number of outputs',
    inputs: [floats([1, 2, 3, 4, 5])],
    attributes: { num_outputs: 2 },
    expected: [
      { shape: [3], values: [1, 2, 3] },
      { shape: [2], values: [4, 5] },
    ],
  },
  {
    op: 'TopK',
    title: 'k as an attribute, as opset 1 has it',
    opset: 1,
    inputs: [floats([3, 1, 2, 9, 9, 0], [2, 3])],
    attributes: { k: 2 },
    expected: [
      { shape: [2, 2], values: [3, 2, 9, 9] },
      { shape: [2, 2], values: [0n, 2n, 0n, 1n] },
    ],
  },
  {
    op: 'TopK',
    title: 'k that is computed',
    inputs: [floats([3, 1, 2]), int64s([2])],
    attributes: { largest: 0 },
    expected: [
      { shape: [2], values: [1, 2] },
      { shape: [2], values: [1n, 2n] },
    ],
  },
  {
    op: 'Scatter',
    title: 'as opset 9 calls it',
    opset: 9,
    inputs: [floats([1, 2, 3]), int64s([2, 2, -3]), floats([7, 8, 9])],
    expected: [{ shape: [3], values: [9, 2, 8] }],
  },
  {
    op: 'ScatterND',
    title: 'sums in the order of the updates',
    inputs: [floats([0, 1]), int64s([0, 0, 0], [3, 1]), floats([2 ** 24, 1, 1])],
    attributes: { reduction: 'add' },
    expected: [{ shape: [2], values: [2 ** 24, 1] }],
  },
  {
    op: 'OneHot',
    title: 'indices and depth of floats',
    inputs: [floats([1, -1]), floats([3], []), int64s([5, 6])],
    constants: [1],
    expected: [{ shape: [2, 3], values: [5n, 6n, 5n, 5n, 5n, 6n] }],
  },
  {
    op: 'NonMaxSuppression',
    title: 'no number of boxes gives none',
    inputs: [floats([0, 0, 1, 1], [1, 1, 4]), floats([1], [1, 1, 1])],
    expected: [{ shape: [0, 3], values: [] }],
  },
  {
    op: 'TensorScatter',
    title: 'from the beginning without indices',
    opset: 24,
    inputs: [floats([1, 2, 3], [1, 3, 1]), floats([9], [1, 1, 1])],
    expected: [{ shape: [1, 3, 1], values: [9, 2, 3] }],
  },
  {
    op: 'ExpandDims',
    title: 'of com.microsoft',
    domain: 'com.microsoft',
    inputs: [floats([1, 2]), HostTensor.from('int32', [], [-1])],
    constants: [1],
    expected: [{ shape: [2, 1], values: [1, 2] }],
  },
  {
    op: 'Pad',
    title: 'of com.microsoft',
    domain: 'com.microsoft',
    inputs: [floats([1, 2]), int64s([1, 0]), floats([5], [1])],
    constants: [1, 2],
    expected: [{ shape: [3], values: [5, 1, 2] }],
  },
];

describe('operators that move elements', () => {
  test.each(CASES.map((given) => [given.op, given.title, given] as const))(
    '%s: %s',
    async (_, _title, given) => {
      const results = await run(given);
      expect(results.map(({ shape, data }) => ({ shape, values: [...data] }))).toEqual(
        given.expected,
      );
    },
  );
});
