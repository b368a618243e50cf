import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { AdtValue, TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import {
  type OnnxInputSpec,
  type OnnxModelSpec,
  onnxNode as node,
  writeOnnxModel,
} from '../../testing/onnx-writer.ts';
import { compileOnnx } from './compile-onnx.ts';
import { importOnnx } from './import-onnx.ts';

const X: OnnxInputSpec = { name: 'x', shape: ['n', 4] };
const ints = (name: string, count: number): OnnxInputSpec => ({
  name,
  dtype: 'int64',
  shape: [count],
});
const scalar = (name: string, dtype: DType): OnnxInputSpec => ({
  name,
  dtype,
  shape: [],
});
const int64 = (...values: number[]) => HostTensor.from('int64', [values.length], values);
const f32 = (shape: number[], ...values: number[]) => HostTensor.from('float32', shape, values);
const counted = (...shape: number[]) => {
  const count = shape.reduce((a, b) => a * b, 1);
  return HostTensor.from(
    'float32',
    shape,
    Array.from({ length: count }, (_, i) => i),
  );
};

/** The outputs of a model, call after call. */
interface Session {
  readonly run: (...inputs: HostTensor[]) => Promise<readonly (readonly unknown[])[]>;
  readonly dispose: () => void;
}

describe.each(DEVICES)('on $title', ({ open }) => {
  let device: Device;

  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  async function load(spec: OnnxModelSpec): Promise<Session> {
    const executable = compileOnnx(writeOnnxModel(spec));
    const vm = await VirtualMachine.create(executable, { devices: [device, createHostDevice()] });
    const run = async (...inputs: HostTensor[]) => {
      const values = inputs.map((input) => vm.tensor(input));
      const result = await vm.get('main')(...values);
      const fields = result instanceof AdtValue ? result.fields : [result];
      const read = await vm.read(fields.filter((field) => field instanceof TensorValue));
      for (const value of [result, ...values]) vm.release(value);
      return read.map((tensor) => [tensor.shape, Array.from(tensor.data, Number)]);
    };
    return { run, dispose: () => vm.dispose() };
  }

  test('Reshape', async () => {
    const { run, dispose } = await load({
      inputs: [X, ints('s', 3)],
      nodes: [node('Reshape', ['x', 's'], 'r'), node('ReduceSum', ['r'], 'y', { keepdims: 0 })],
      outputs: ['r'],
    });
    const [[shape = []] = []] = await run(counted(3, 4), int64(2, -1, 3));
    expect(shape).toEqual([2, 2, 3]);
    expect((await run(counted(6, 4), int64(0, 2, -1)))[0]?.[0]).toEqual([6, 2, 2]);
    expect((await run(counted(0, 4), int64(0, 2, -1)))[0]?.[0]).toEqual([0, 2, 0]);
    await expect(run(counted(3, 4), int64(5, -1, 1))).rejects.toThrow(
      'node "r" (Reshape), shape: got shape (5, -1, 1), expected one that the 12 elements of (3, 4) fit.',
    );
    dispose();
  });

  test('Expand, Tile, ConstantOfShape', async () => {
    const { run, dispose } = await load({
      inputs: [{ name: 'x', shape: ['n', 1] }, ints('s', 2)],
      nodes: [
        node('Expand', ['x', 's'], 'a'),
        node('Tile', ['x', 's'], 'b'),
        node('ConstantOfShape', ['s'], 'c'),
      ],
      outputs: ['a', 'b', 'c'],
    });
    expect(await run(f32([2, 1], 5, 6), int64(1, 3))).toEqual([
      [
        [2, 3],
        [5, 5, 5, 6, 6, 6],
      ],
      [
        [2, 3],
        [5, 5, 5, 6, 6, 6],
      ],
      [
        [1, 3],
        [0, 0, 0],
      ],
    ]);
    expect((await run(f32([1, 1], 5), int64(3, 2)))[0]).toEqual([
      [3, 2],
      [5, 5, 5, 5, 5, 5],
    ]);
    expect((await run(f32([1, 1], 5), int64(0, 2)))[0]).toEqual([[0, 2], []]);
    await expect(run(f32([2, 1], 5, 6), int64(3, 3))).rejects.toThrow(
      'node "a" (Expand), shape: got (2, 1) and (3, 3), expected shapes that broadcast.',
    );
    await expect(run(f32([2, 1], 5, 6), int64(1, -3))).rejects.toThrow(/node "[abc]" \(\w+\)/);
    dispose();
  });

  test('a size that is known among those that are not', async () => {
    const { run, dispose } = await load({
      inputs: [ints('b', 1)],
      nodes: [
        node('Concat', ['b', 'rest'], 's', { axis: 0 }),
        node('ConstantOfShape', ['s'], 'zeros'),
        // Without axes: what is 1 has to be known.
        node('Squeeze', ['zeros'], 'y'),
      ],
      initializers: { rest: int64(1, 2) },
      outputs: ['y'],
    });
    expect(await run(int64(3))).toEqual([
      [
        [3, 2],
        [0, 0, 0, 0, 0, 0],
      ],
    ]);
    expect(await run(int64(1))).toEqual([
      [
        [1, 2],
        [0, 0],
      ],
    ]);
    dispose();
  });

  test('Slice', async () => {
    const { run, dispose } = await load({
      inputs: [X, ints('b', 2), ints('e', 2), ints('a', 2), ints('t', 2)],
      nodes: [node('Slice', ['x', 'b', 'e', 'a', 't'], 'y')],
      outputs: ['y'],
    });
    const x = counted(3, 4);
    expect(await run(x, int64(-1, 1), int64(-10, 100), int64(-2, 1), int64(-2, 2))).toEqual([
      [
        [2, 2],
        [9, 11, 1, 3],
      ],
    ]);
    expect((await run(x, int64(2, 3), int64(2, 1), int64(0, 1), int64(1, 1)))[0]?.[0]).toEqual([
      0, 0,
    ]);
    await expect(run(x, int64(0, 0), int64(1, 1), int64(0, 1), int64(1, 0))).rejects.toThrow(
      'node "y" (Slice): got a step of 0, expected another step.',
    );
    dispose();
  });

  test('Range of integers and of floats', async () => {
    const model = (dtype: 'int64' | 'float32') => ({
      inputs: ['a', 'b', 'c'].map((name) => scalar(name, dtype)),
      nodes: [node('Range', ['a', 'b', 'c'], 'y')],
      outputs: ['y'],
    });
    const integers = await load(model('int64'));
    const of = (dtype: 'int64' | 'float32', ...values: number[]) =>
      values.map((value) => HostTensor.from(dtype, [], [value]));
    expect(await integers.run(...of('int64', 5, -2, -3))).toEqual([[[3], [5, 2, -1]]]);
    expect(await integers.run(...of('int64', 0, 0, 1))).toEqual([[[0], []]]);
    await expect(integers.run(...of('int64', 0, 4, 0))).rejects.toThrow(
      'node "y" (Range): got a range from 0 to 4 by 0',
    );
    integers.dispose();
    const floats = await load(model('float32'));
    expect(await floats.run(...of('float32', 0, 1, 0.25))).toEqual([[[4], [0, 0.25, 0.5, 0.75]]]);
    floats.dispose();
  });

  test.each([true, false])(
    'Range of bfloat16 and float16, its bounds constants: %s',
    async (isConstant) => {
      const bounds = ['a', 'b', 'c'];
      // The bits of 1, 3 and 0.75, then those of the three elements from 1 on.
      for (const [dtype, bits, expected] of [
        ['bfloat16', [0x3f80, 0x4040, 0x3f40], [0x3f80, 0x3fe0, 0x4020]],
        ['float16', [0x3c00, 0x4200, 0x3a00], [0x3c00, 0x3f00, 0x4100]],
      ] as const) {
        const tensors = bits.map((value) => HostTensor.from(dtype, [], [value]));
        const { run, dispose } = await load({
          inputs: isConstant ? [] : bounds.map((name) => scalar(name, dtype)),
          initializers: isConstant
            ? Object.fromEntries(
                bounds.map((name, i) => [name, tensors[i] ?? HostTensor.zeros(dtype, [])]),
              )
            : {},
          nodes: [node('Range', bounds, 'y')],
          outputs: ['y'],
        });
        expect(await run(...(isConstant ? [] : tensors))).toEqual([[[3], expected]]);
        dispose();
      }
    },
  );

  test('Split, Pad, Squeeze and Unsqueeze by inputs', async () => {
    const { run, dispose } = await load({
      inputs: [X, ints('s', 2), ints('p', 4), ints('a', 1)],
      nodes: [
        { op: 'Split', inputs: ['x', 's'], outputs: ['u', 'v'], attributes: { axis: 1 } },
        node('Pad', ['x', 'p'], 'w'),
        node('Unsqueeze', ['x', 'a'], 'z'),
        node('Squeeze', ['z', 'a'], 'q'),
      ],
      outputs: ['u', 'v', 'w', 'z', 'q'],
    });
    const results = await run(counted(1, 4), int64(1, 3), int64(0, 1, 1, -2), int64(-1));
    expect(results).toEqual([
      [[1, 1], [0]],
      [
        [1, 3],
        [1, 2, 3],
      ],
      [
        [2, 3],
        [0, 0, 1, 0, 0, 0],
      ],
      [
        [1, 4, 1],
        [0, 1, 2, 3],
      ],
      [
        [1, 4],
        [0, 1, 2, 3],
      ],
    ]);
    dispose();
  });

  test('NonZero, Compress and Unique, and what is computed of them', async () => {
    const { run, dispose } = await load({
      inputs: [
        { name: 'x', shape: ['n'] },
        { name: 'c', dtype: 'bool', shape: ['m'] },
      ],
      nodes: [
        node('NonZero', ['x'], 'at'),
        node('Shape', ['at'], 'shape'),
        node('Compress', ['x', 'c'], 'some', { axis: 0 }),
        node('Exp', ['some'], 'e'),
        { op: 'Unique', inputs: ['x'], outputs: ['v', 'i', 'r', 'k'] },
        node('Mul', ['v', 'v'], 'squares'),
      ],
      outputs: ['at', 'shape', 'e', 'squares', 'i', 'r', 'k'],
    });
    const c = HostTensor.from('bool', [2], [0, 1]);
    expect(await run(f32([4], 3, 0, 2, 3), c)).toEqual([
      [
        [1, 3],
        [0, 2, 3],
      ],
      [[2], [1, 3]],
      [[1], [1]],
      [[3], [0, 4, 9]],
      [[3], [1, 2, 0]],
      [[4], [2, 0, 1, 2]],
      [[3], [1, 1, 2]],
    ]);
    dispose();
  });

  test('dimensions as data: outputs and arithmetic of floats', async () => {
    const { run, dispose } = await load({
      inputs: [X],
      nodes: [
        node('Shape', ['x'], 's'),
        node('Size', ['x'], 'size'),
        node('Cast', ['s'], 'f', { to: 1 }),
        node('Sqrt', ['f'], 'root'),
        node('Slice', ['s', 'zero', 'one'], 'rows'),
        node('Squeeze', ['rows', 'zero'], 'count'),
        node('Range', ['from', 'count', 'by'], 'positions'),
      ],
      initializers: {
        zero: int64(0),
        one: int64(1),
        from: HostTensor.from('int64', [], [0]),
        by: HostTensor.from('int64', [], [1]),
      },
      outputs: ['s', 'size', 'root', 'positions'],
    });
    expect(await run(counted(9, 4))).toEqual([
      [[2], [9, 4]],
      [[], [36]],
      [[2], [3, 2]],
      [[9], [0, 1, 2, 3, 4, 5, 6, 7, 8]],
    ]);
    dispose();
  });

  test('the same session runs other sizes in turn without other pipelines', async () => {
    const { run, dispose } = await load({
      inputs: [X, ints('s', 2)],
      nodes: [node('Relu', ['x'], 'a'), node('Reshape', ['a', 's'], 'b'), node('Exp', ['b'], 'y')],
      outputs: ['y'],
    });
    await run(counted(2, 4), int64(4, -1));
    const { pipelinesCreated } = device.counters();
    for (const n of [1, 3, 8, 50]) {
      const [[shape] = []] = await run(counted(n, 4), int64(-1, 2));
      expect(shape).toEqual([2 * n, 2]);
    }
    expect(device.counters().pipelinesCreated).toBe(pipelinesCreated);
    dispose();
  });
});

describe('inputs without a shape', () => {
  const unranked: OnnxInputSpec = { name: 'x', shape: [], isUnranked: true };
  const bytesOf = (nodes: OnnxModelSpec['nodes'], initializers?: OnnxModelSpec['initializers']) =>
    writeOnnxModel({ inputs: [unranked], nodes, outputs: ['y'], initializers: initializers ?? {} });
  const relu = bytesOf([node('Relu', ['x'], 'y')]);
  const typeOf = (bytes: Uint8Array, dims?: Record<string, number>) => {
    const [param] = importOnnx(bytes, { dims }).functions.get('main')?.params ?? [];
    return param?.type?.kind === 'tensor' ? param.type.shape : undefined;
  };

  test('take the rank that their use tells', () => {
    const weight = { w: HostTensor.zeros('float32', [2, 3, 3, 3]), r: int64(1, 2, 3) };
    const uses: [OnnxModelSpec['nodes'], number][] = [
      [[node('Conv', ['x', 'w'], 'y')], 4],
      [[node('Cast', ['x'], 'c', { to: 1 }), node('Transpose', ['c'], 'y', { perm: [1, 0] })], 2],
      [[node('MaxPool', ['x'], 'y', { kernel_shape: [2] })], 3],
      [[node('Tile', ['x', 'r'], 'y')], 3],
    ];
    for (const [nodes, rank] of uses) {
      expect(typeOf(bytesOf(nodes, weight))).toHaveLength(rank);
    }
  });

  test('take the rank of `dims`, and sizes as others do', async () => {
    expect(typeOf(relu, { 'x.rank': 2, 'x.1': 3 })).toEqual(['x.0', 3]);
    expect(typeOf(relu, { 'x.rank': 0 })).toEqual([]);
    const vm = await VirtualMachine.create(compileOnnx(relu, { dims: { 'x.rank': 2 } }), {
      devices: [createHostDevice()],
    });
    for (const x of [f32([1, 2], -1, 2), f32([2, 1], 3, -4)]) {
      const y = await vm.get('main')(vm.tensor(x));
      expect(y).toMatchObject({ shape: x.shape });
    }
    await expect(vm.get('main')(vm.tensor(f32([2], 1, 2)))).rejects.toThrow(
      'expected a float32 tensor (x.0, x.1)',
    );
    vm.dispose();
  });

  test('are refused where neither does, with what to give', () => {
    expect(() => importOnnx(relu)).toThrowErrorMatchingInlineSnapshot(
      `[UnsupportedError: input "x": got no shape, and no use that tells its rank, expected a rank up to 32. Give the number of its dimensions: --dim x.rank=2, or dims: { "x.rank": 2 }.]`,
    );
    expect(() => importOnnx(relu, { dims: { 'x.rank': 99 } })).toThrow('got a rank of 99');
    expect(() => importOnnx(relu, { dims: { 'x.rank': 1, 'x.1': 2 } })).toThrow(
      'names among "x.rank", "x.0"',
    );
  });
});
