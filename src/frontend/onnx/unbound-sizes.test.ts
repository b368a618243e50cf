import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Device } from '../../device/device.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { DEVICES } from '../../device/testing/node-devices.ts';
import { AdtValue, TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import {
  type OnnxInputSpec,
  type OnnxModelSpec,
  onnxNode as node,
  writeOnnxModel,
} from '../../testing/onnx-writer.ts';
import { compileOnnx } from './compile-onnx.ts';

const f32 = (shape: number[], ...values: number[]) => HostTensor.from('float32', shape, values);
const int64 = (...values: number[]) => HostTensor.from('int64', [values.length], values);
const input = (name: string, ...shape: (number | string)[]): OnnxInputSpec => ({ name, shape });

/** One session serves all sizes. */
describe.each(DEVICES)('sizes that no one binds, on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  async function load(spec: OnnxModelSpec) {
    const executable = compileOnnx(writeOnnxModel(spec));
    const vm = await VirtualMachine.create(executable, { devices: [device, createHostDevice()] });
    const run = async (...inputs: HostTensor[]) => {
      const result = await vm.get('main')(...inputs.map((tensor) => vm.tensor(tensor)));
      const fields = result instanceof AdtValue ? result.fields : [result];
      const [y] = await vm.read(fields.filter((field) => field instanceof TensorValue));
      return [y?.shape, Array.from(y?.data ?? [], Number)];
    };
    return { run, dispose: () => vm.dispose() };
  }

  test('two names broadcast where either is 1, and stop the program where they do not fit', async () => {
    const { run, dispose } = await load({
      inputs: [input('x', 'n'), input('y', 'k')],
      nodes: [node('Add', ['x', 'y'], 's'), node('Sub', ['s', 'x'], 'z')],
      outputs: ['z'],
    });
    const three = f32([3], 1, 2, 3);
    expect(await run(three, f32([1], 10))).toEqual([[3], [10, 10, 10]]);
    expect(await run(f32([1], 10), three)).toEqual([[3], [1, 2, 3]]);
    expect(await run(three, three)).toEqual([[3], [1, 2, 3]]);
    expect(await run(f32([0]), f32([1], 1))).toEqual([[0], []]);
    await expect(run(f32([2], 1, 2), f32([4], 1, 2, 3, 4))).rejects.toThrow(
      'Each dimension of x must be 1 or the one of the result',
    );
    dispose();
  });

  test('a computed size broadcasts with a number where it is 1', async () => {
    const { run, dispose } = await load({
      inputs: [input('x', 'n'), input('y', 2)],
      nodes: [
        node('Concat', ['x', 'x'], 'xx', { axis: 0 }),
        node('Slice', ['xx', 'start', 'end', 'axis', 'step'], 'h'),
        node('Add', ['h', 'y'], 'z'),
      ],
      initializers: { start: int64(0), end: int64(99), axis: int64(0), step: int64(3) },
      outputs: ['z'],
    });
    expect(await run(f32([1], 10), f32([2], 1, 2))).toEqual([[2], [11, 12]]);
    expect(await run(f32([2], 10, 20), f32([2], 1, 2))).toEqual([[2], [11, 22]]);
    await expect(run(f32([4], 1, 2, 3, 4), f32([2], 1, 2))).rejects.toThrow('broadcast');
    dispose();
  });

  test('Expand to the shape of another tensor repeats either', async () => {
    const { run, dispose } = await load({
      inputs: [input('x', 'a'), input('y', 'b', 'c')],
      nodes: [node('Shape', ['y'], 's'), node('Expand', ['x', 's'], 'z')],
      outputs: ['z'],
    });
    expect(await run(f32([1], 7), f32([1, 3], 0, 0, 0))).toEqual([
      [1, 3],
      [7, 7, 7],
    ]);
    expect(await run(f32([2], 7, 8), f32([2, 1], 0, 0))).toEqual([
      [2, 2],
      [7, 8, 7, 8],
    ]);
    await expect(run(f32([2], 7, 8), f32([1, 3], 0, 0, 0))).rejects.toThrow('broadcast_to');
    dispose();
  });

  test('a mask of attention has rows, columns and a batch of its own', async () => {
    const { run, dispose } = await load({
      inputs: [input('q', 'b', 's', 2), input('k', 'b', 't', 2), input('m', 'c', 'u', 'v')],
      nodes: [
        node('Transpose', ['k'], 'kt', { perm: [0, 2, 1] }),
        node('MatMul', ['q', 'kt'], 'w'),
        node('Add', ['w', 'm'], 'masked'),
        node('ReduceSum', ['masked'], 'y', { keepdims: 0 }),
      ],
      outputs: ['masked'],
    });
    const q = f32([1, 1, 2], 1, 0);
    const k = f32([1, 3, 2], 1, 0, 2, 0, 3, 0);
    expect(await run(q, k, f32([1, 1, 1], 10))).toEqual([
      [1, 1, 3],
      [11, 12, 13],
    ]);
    expect(await run(q, k, f32([1, 2, 3], 0, 0, 0, 5, 5, 5))).toEqual([
      [1, 2, 3],
      [1, 2, 3, 6, 7, 8],
    ]);
    expect((await run(q, k, f32([2, 1, 1], 0, 5)))[0]).toEqual([2, 1, 3]);
    dispose();
  });

  test('a chain of many names keeps its sizes short', async () => {
    const names = Array.from({ length: 16 }, (_, i) => `x${i}`);
    const { run, dispose } = await load({
      inputs: names.map((name) => input(name, `n${name}`)),
      nodes: names
        .slice(1)
        .map((name, i) => node('Add', [i === 0 ? 'x0' : `s${i}`, name], `s${i + 1}`)),
      outputs: ['s15'],
    });
    const one = f32([1], 1);
    const inputs = names.map((_, i) => (i === 7 ? f32([2], 1, 2) : one));
    expect(await run(...inputs)).toEqual([[2], [16, 17]]);
    dispose();
  });
});

describe('what onnxruntime takes', () => {
  async function run(spec: OnnxModelSpec, ...inputs: HostTensor[]) {
    const executable = compileOnnx(writeOnnxModel(spec));
    const vm = await VirtualMachine.create(executable, { devices: [createHostDevice()] });
    const result = await vm.get('main')(...inputs.map((tensor) => vm.tensor(tensor)));
    const fields = result instanceof AdtValue ? result.fields : [result];
    const read = await vm.read(fields.filter((field) => field instanceof TensorValue));
    vm.dispose();
    return read.map(({ shape, data }) => [shape, Array.from(data, Number)]);
  }

  test.each([0, 1])(
    'SplitToSequence of an unbound axis, then ConcatFromSequence (new axis: %i)',
    async (isNew) => {
      const spec: OnnxModelSpec = {
        inputs: [input('x', 'n', 2)],
        initializers: { size: HostTensor.from('int64', [], [1]) },
        nodes: [
          node('SplitToSequence', ['x', 'size'], 'parts'),
          node('SequenceLength', ['parts'], 'count'),
          node('ConcatFromSequence', ['parts'], 'y', { axis: 1, new_axis: isNew }),
        ],
        outputs: ['count', 'y'],
      };
      expect(await run(spec, f32([3, 2], 0, 1, 2, 3, 4, 5))).toEqual([
        [[], [3]],
        isNew === 1
          ? [
              [1, 3, 2],
              [0, 1, 2, 3, 4, 5],
            ]
          : [
              [1, 6],
              [0, 1, 2, 3, 4, 5],
            ],
      ]);
    },
  );

  test.each(['-1', '?', 'None'])('a size named %s is another one at each place', async (name) => {
    const spec = {
      inputs: [input('x', name, name)],
      nodes: [node('Neg', ['x'], 'y')],
      outputs: ['y'],
    };
    expect(await run(spec, f32([1, 2], 1, 2))).toEqual([
      [
        [1, 2],
        [-1, -2],
      ],
    ]);
  });

  test('a trip count of shape (1,) counts in that shape', async () => {
    const body = {
      inputs: [
        { name: 'i', dtype: 'int64', shape: [1] },
        { name: 'c', dtype: 'bool', shape: [] },
        input('s', 2),
      ],
      initializers: { first: int64(0) },
      nodes: [
        node('Squeeze', ['i', 'first'], 'k'),
        node('Cast', ['k'], 'f', { to: 1 }),
        node('Add', ['s', 'f'], 't'),
        node('Identity', ['c'], 'd'),
      ],
      outputs: ['d', 't'],
    } as const;
    const spec: OnnxModelSpec = {
      inputs: [{ name: 'n', dtype: 'int64', shape: [1] }, input('x', 2)],
      initializers: { go: HostTensor.from('bool', [], [1]) },
      nodes: [node('Loop', ['n', 'go', 'x'], 'y', { body: { graph: body } })],
      outputs: ['y'],
    };
    expect(await run(spec, int64(3), f32([2], 0, 1))).toEqual([[[2], [3, 4]]]);
  });

  test('one output that is listed twice is one', async () => {
    const spec = {
      inputs: [input('x', 2)],
      nodes: [node('Neg', ['x'], 'y')],
      outputs: ['y', 'y'],
    };
    expect(await run(spec, f32([2], 1, 2))).toEqual([[[2], [-1, -2]]]);
  });

  test('attributes without an effect where they stand', async () => {
    const attention = node('Attention', ['x', 'x', 'x'], 'y', {
      q_num_heads: 1,
      kv_num_heads: 1,
      qk_matmul_output_mode: 0,
    });
    const one = { inputs: [input('x', 1, 1, 2)], outputs: ['y'] };
    expect(await run({ ...one, opset: 23, nodes: [attention] }, f32([1, 1, 2], 1, 2))).toEqual([
      [
        [1, 1, 2],
        [1, 2],
      ],
    ]);
    const resize = node('Resize', ['x', '', 'scales'], 'y', {
      keep_aspect_ratio_policy: 'stretch',
    });
    const scales = { scales: f32([3], 1, 1, 2) };
    const scaled = { ...one, opset: 18, initializers: scales, nodes: [resize] };
    expect(await run(scaled, f32([1, 1, 2], 1, 2))).toEqual([
      [
        [1, 1, 4],
        [1, 1, 2, 2],
      ],
    ]);
  });
});
