import { describe, expect, test } from 'vitest';
import { printModule } from '../../compiler/ir/text/print.ts';
import { ShapeError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import type { Device } from '../../device/device.ts';
import { createWebGpuDevice } from '../../device/webgpu/index.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { AdtValue, TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import { sharedNodeGpu } from '../../testing/node-gpu.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { type OnnxModelSpec, onnxNode as node, writeOnnxModel } from '../../testing/onnx-writer.ts';
import { seededRandom } from '../../core/random.ts';
import { compileOnnx } from './compile-onnx.ts';
import { importOnnx } from './import-onnx.ts';

function importText(spec: OnnxModelSpec): string {
  return printModule(importOnnx(writeOnnxModel(spec)));
}

function int64s(...values: number[]): HostTensor {
  return HostTensor.from('int64', [values.length], values);
}

async function run(
  spec: OnnxModelSpec,
  inputs: readonly HostTensor[],
  { dims, open = () => Promise.resolve(createHostDevice()) }: RunOptions = {},
): Promise<HostTensor[]> {
  const device = await open();
  const executable = compileOnnx(writeOnnxModel(spec), { dims });
  const vm = await VirtualMachine.create(executable, { devices: [device] });
  const result = await vm.get('main')(...inputs.map((input) => vm.tensor(input)));
  const fields = result instanceof AdtValue ? result.fields : [result];
  const tensors = fields.filter((field) => field instanceof TensorValue);
  const read = await vm.read(tensors);
  vm.dispose();
  device.destroy();
  return read;
}

interface RunOptions {
  readonly dims?: Readonly<Record<string, number>>;
  readonly open?: () => Promise<Device>;
}

function randomTensor(shape: readonly number[]): HostTensor {
  const random = seededRandom(shape.join().length);
  const count = shape.reduce((a, b) => a * b, 1);
  return HostTensor.from(
    'float32',
    shape,
    Array.from({ length: count }, () => random() - 0.5),
  );
}

/** The program for any size computes the same as the program for this size. */
async function agrees(
  spec: OnnxModelSpec,
  dims: Readonly<Record<string, number>>,
  open?: () => Promise<Device>,
): Promise<readonly HostTensor[]> {
  const inputs = (spec.inputs ?? []).map(({ shape }) =>
    randomTensor(shape.map((dim) => (typeof dim === 'number' ? dim : (dims[dim] ?? 1)))),
  );
  const dynamic = await run(spec, inputs, open === undefined ? {} : { open });
  const fixed = await run(spec, inputs, { dims });
  expect(dynamic.map(({ shape }) => shape)).toEqual(fixed.map(({ shape }) => shape));
  for (const [i, tensor] of dynamic.entries()) {
    const expected = fixed[i];
    if (expected === undefined) throw new Error('a result is missing');
    expect(firstDifference(tensor, expected, { rtol: 1e-4, atol: 1e-5 })).toBeUndefined();
  }
  return dynamic;
}

/** Heads of attention: (batch, length, 12) to (batch, length, 3, 4), (batch, 3, length, 4) and back. */
const heads: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: ['batch', 'length', 12] }],
  initializers: {
    zero: HostTensor.from('int64', [], [0]),
    one: HostTensor.from('int64', [], [1]),
    first: int64s(0),
    three: int64s(3),
    four: int64s(4),
    rest: int64s(-1),
  },
  nodes: [
    node('Shape', ['x'], 's'),
    node('Gather', ['s', 'zero'], 'b0'),
    node('Gather', ['s', 'one'], 'l0'),
    node('Unsqueeze', ['b0', 'first'], 'b'),
    node('Unsqueeze', ['l0', 'first'], 'l'),
    node('Concat', ['b', 'l', 'three', 'four'], 'split', { axis: 0 }),
    node('Reshape', ['x', 'split'], 'h'),
    node('Transpose', ['h'], 't', { perm: [0, 2, 1, 3] }),
    node('Transpose', ['h'], 'k', { perm: [0, 2, 3, 1] }),
    node('MatMul', ['t', 'k'], 'scores'),
    node('Softmax', ['scores'], 'p', { axis: -1 }),
    node('MatMul', ['p', 't'], 'o'),
    node('Transpose', ['o'], 'u', { perm: [0, 2, 1, 3] }),
    node('Concat', ['b', 'l', 'rest'], 'joined', { axis: 0 }),
    node('Reshape', ['u', 'joined'], 'y'),
  ],
  outputs: ['y'],
};

describe('a model with symbolic dimensions', () => {
  test('shape arithmetic becomes dimension expressions', () => {
    expect(importText(heads)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(batch, length, 12), float32], results=["y"]) {
        %0 = reshape(%x, shape=[batch, length, 3, 4]);
        %1 = transpose(%0, perm=[0, 2, 1, 3]);
        %2 = transpose(%0, perm=[0, 2, 3, 1]);
        %3 = matmul(%1, %2);
        %4 = softmax(%3, axis=3);
        %5 = matmul(%4, %1);
        %6 = transpose(%5, perm=[0, 2, 1, 3]);
        reshape(%6, shape=[batch, length, 12])
      }
      "
    `);
  });

  test.each([
    [1, 1],
    [2, 5],
    [3, 2],
  ])('computes for batch %i and length %i', async (batch, length) => {
    const [y] = await agrees(heads, { batch, length });
    expect(y?.shape).toEqual([batch, length, 12]);
  });

  const image: OnnxModelSpec = {
    inputs: [{ name: 'x', shape: ['n', 2, 'h', 'w'] }],
    initializers: {
      weights: randomTensor([3, 2, 3, 3]),
      bias: randomTensor([3]),
      table: randomTensor([3, 5]),
    },
    nodes: [
      node('Conv', ['x', 'weights', 'bias'], 'c', { strides: [2, 2], pads: [1, 1, 1, 1] }),
      node('Relu', ['c'], 'r'),
      node('MaxPool', ['r'], 'm', { kernel_shape: [2, 2], strides: [2, 2], ceil_mode: 1 }),
      node('GlobalAveragePool', ['m'], 'g'),
      node('Flatten', ['g'], 'f'),
      node('MatMul', ['f', 'table'], 'z'),
      node('Softmax', ['z'], 'y', { axis: 1 }),
    ],
    outputs: ['y', 'm'],
  };

  test('images of any size', async () => {
    const [, pooled] = await agrees(image, { n: 2, h: 9, w: 12 });
    expect(pooled?.shape).toEqual([2, 3, 3, 3]);
    await agrees(image, { n: 1, h: 4, w: 3 });
  });

  const moves: OnnxModelSpec = {
    inputs: [
      { name: 'x', shape: ['n', 4] },
      { name: 'z', shape: ['m', 4] },
    ],
    initializers: {
      starts: int64s(1, -3),
      ends: int64s(Number.MAX_SAFE_INTEGER, -1),
      wide: int64s(2, 1, 1),
      ones: HostTensor.from('int32', [1], [7]),
      last: HostTensor.from('int64', [], [-1]),
    },
    nodes: [
      node('Concat', ['x', 'z'], 'joined', { axis: 0 }),
      node('Slice', ['joined', 'starts', 'ends'], 'part'),
      node('Expand', ['part', 'wide'], 'twice'),
      node('Shape', ['x'], 's'),
      node('ConstantOfShape', ['s'], 'zeros', { value: HostTensor.from('float32', [1], [1]) }),
      node('Add', ['x', 'zeros'], 'sum'),
      node('Gather', ['sum', 'last'], 'row', { axis: 0 }),
      node('Expand', ['ones', 's'], 'filled'),
      node('Split', ['x'], 'left', { axis: 1 }),
    ],
    outputs: ['twice', 'row', 'left', 'filled'],
  };

  test('data movement', async () => {
    expect(importText(moves)).toMatchInlineSnapshot(`
      "def @main(%x: Tensor[(n, 4), float32], %z: Tensor[(m, 4), float32], results=["twice","row","left","filled"]) {
        %0 = concat(%x, %z, axis=0);
        %1 = slice(%0, starts=[1, -3], ends=[2147483647, -1], steps=[1, 1]);
        %2 = broadcast_to(%1, shape=[2, ((m + n) - min((m + n), 1)), 2]);
        %3 = full(shape=[n, 4], value=1, dtype="float32");
        %4 = add(%x, %3);
        %5 = slice(%4, starts=[-1, 0], ends=[2147483647, 4], steps=[1, 1]);
        %6 = reshape(%5, shape=[4]);
        %7 = slice(%x, starts=[0, 0], ends=[2147483647, 4], steps=[1, 1]);
        %8 = broadcast_to([7], shape=[n, 4]);
        (%2, %6, %7, %8)
      }
      "
    `);
    const [twice] = await agrees(moves, { n: 3, m: 2 });
    expect(twice?.shape).toEqual([2, 4, 2]);
  });

  /** A mask for the last rows and all columns of a table, as language models with a past cut it. */
  const past: OnnxModelSpec = {
    inputs: [
      { name: 'past', shape: ['before', 4] },
      { name: 'x', shape: ['n', 4] },
    ],
    initializers: {
      table: randomTensor([20, 20]),
      zero: HostTensor.from('int64', [], [0]),
      first: int64s(0),
      both: int64s(0, 1),
    },
    nodes: [
      node('Concat', ['past', 'x'], 'keys', { axis: 0 }),
      node('Shape', ['x'], 'sx'),
      node('Gather', ['sx', 'zero'], 'rows0'),
      node('Unsqueeze', ['rows0', 'first'], 'rows'),
      node('Shape', ['keys'], 'sk'),
      node('Gather', ['sk', 'zero'], 'columns0'),
      node('Unsqueeze', ['columns0', 'first'], 'columns'),
      node('Sub', ['columns', 'rows'], 'begin'),
      node('Concat', ['begin', 'first'], 'starts', { axis: 0 }),
      node('Concat', ['columns', 'columns'], 'ends', { axis: 0 }),
      node('Slice', ['table', 'starts', 'ends', 'both'], 'mask'),
      node('Transpose', ['keys'], 't', { perm: [1, 0] }),
      node('MatMul', ['x', 't'], 'scores'),
      node('Add', ['scores', 'mask'], 'y'),
    ],
    outputs: ['y'],
  };

  test('a constant cut to lengths that other tensors have', async () => {
    expect(importText(past)).toMatchInlineSnapshot(`
      "def @main(%past: Tensor[(before, 4), float32], %x: Tensor[(n, 4), float32], results=["y"]) {
        %0 = concat(%past, %x, axis=0);
        %1 = transpose(%0, perm=[1, 0]);
        %2 = matmul(%x, %1);
        %3 = slice(meta[0], starts=[before, 0], ends=[(before + n), (before + n)], steps=[1, 1]);
        add(%2, %3)
      }

      meta[0]: Tensor[(20, 20), float32]
      "
    `);
    const [y] = await agrees(past, { before: 3, n: 2 });
    expect(y?.shape).toEqual([2, 5]);
    await agrees(past, { before: 0, n: 4 });
  });

  test('on WebGPU', async () => {
    const open = async () =>
      createWebGpuDevice({ gpu: await sharedNodeGpu(), operators: CORE_OPERATORS });
    await agrees(heads, { batch: 2, length: 5 }, open);
    await agrees(image, { n: 2, h: 9, w: 12 }, open);
    await agrees(moves, { n: 3, m: 2 }, open);
    await agrees(past, { before: 3, n: 2 }, open);
  });

  test('padding on the host, where no tensor on the device has the sizes', async () => {
    const doubles = (...values: number[]) => HostTensor.from('float64', [values.length], values);
    const spec: OnnxModelSpec = {
      inputs: [
        { name: 'x', dtype: 'float64', shape: ['n'] },
        { name: 'fill', dtype: 'float64', shape: [] },
      ],
      initializers: { pads: int64s(1, 2) },
      nodes: [node('Pad', ['x', 'pads', 'fill'], 'y')],
      outputs: ['y'],
    };
    const fill = HostTensor.from('float64', [], [0.1]);
    const [y] = await run(spec, [doubles(3, 4), fill]);
    expect(y).toEqual(doubles(0.1, 3, 4, 0.1, 0.1));
  });

  test('a size that does not fit is refused while it runs', async () => {
    const spec: OnnxModelSpec = {
      inputs: [
        { name: 'x', shape: ['n', 4] },
        { name: 'z', shape: ['m', 4] },
      ],
      nodes: [{ ...node('Add', ['x', 'z'], 'y'), name: 'sum' }],
      outputs: ['y'],
    };
    await agrees(spec, { n: 3, m: 3 });
    await expect(run(spec, [randomTensor([3, 4]), randomTensor([2, 4])])).rejects.toThrow(/sum/);
  });
});

test.each([
  HostTensor.from('float16', [1], [1.5]),
  HostTensor.from('float32', [1], [Infinity]),
  HostTensor.from('int64', [1], [2n ** 62n + 1n]),
  HostTensor.from('int32', [1], [-7]),
])('ConstantOfShape of a $dtype is exact for sizes with names', async (value) => {
  const spec: OnnxModelSpec = {
    inputs: [{ name: 'x', shape: ['n', 2] }],
    nodes: [
      { op: 'Shape', inputs: ['x'], outputs: ['s'] },
      { op: 'ConstantOfShape', inputs: ['s'], outputs: ['y'], attributes: { value } },
    ],
    outputs: ['y'],
  };
  const [y] = await run(spec, [randomTensor([3, 2])]);
  expect(y?.dtype).toBe(value.dtype);
  expect(y?.shape).toEqual([3, 2]);
  const elements: ArrayLike<number | bigint> = y?.elements ?? [];
  expect(Array.from(elements)).toEqual(new Array(6).fill(value.elements[0]));
});

describe('sizes with names that may be 0', () => {
  test.each([13, 11])('Hardmax of opset %i gives nothing of nothing', async (opset) => {
    const spec: OnnxModelSpec = {
      opset,
      inputs: [{ name: 'x', shape: ['b', 'n'] }],
      nodes: [{ op: 'Hardmax', inputs: ['x'], outputs: ['y'], attributes: { axis: 1 } }],
      outputs: ['y'],
    };
    for (const [b, n] of [
      [2, 0],
      [0, 3],
      [3, 1],
      [2, 5],
    ] as const) {
      const [y] = await agrees(spec, { b, n });
      expect(y?.shape).toEqual([b, n]);
      const ones = Array.from(y?.data ?? [], Number).reduce((a, c) => a + c, 0);
      expect(ones).toBe(n === 0 ? 0 : b);
    }
  });

  test('channels become space and back', async () => {
    const spec = (mode: string): OnnxModelSpec => ({
      inputs: [{ name: 'x', shape: ['n', 'c', 'h', 'w'] }],
      nodes: [
        {
          op: 'DepthToSpace',
          inputs: ['x'],
          outputs: ['y'],
          attributes: { blocksize: 2, mode },
        },
        { op: 'SpaceToDepth', inputs: ['y'], outputs: ['z'], attributes: { blocksize: 2 } },
      ],
      outputs: ['y', 'z'],
    });
    for (const mode of ['DCR', 'CRD']) {
      const [y] = await agrees(spec(mode), { n: 2, c: 12, h: 3, w: 5 });
      expect(y?.shape).toEqual([2, 3, 6, 10]);
      await agrees(spec(mode), { n: 1, c: 4, h: 1, w: 1 });
    }
    const x = randomTensor([1, 6, 2, 2]);
    await expect(run(spec('DCR'), [x])).rejects.toThrow(ShapeError);
  });
});
