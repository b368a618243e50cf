import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { createHostDevice } from '../../device/host/host-device.ts';
import { TensorValue } from '../../runtime/values/value.ts';
import { VirtualMachine } from '../../runtime/virtual-machine.ts';
import {
  type OnnxModelSpec,
  onnxNode as node,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../testing/onnx-writer.ts';
import { compileOnnx } from './compile-onnx.ts';
import { importOnnx } from './import-onnx.ts';

const int64 = (...values: number[]) => HostTensor.from('int64', [values.length], values);
const counted = (length: number): number[] => Array.from({ length }, (_, i) => i + 1);

/** One session serves all sizes. */
async function load(spec: OnnxModelSpec) {
  const executable = compileOnnx(writeOnnxModel(spec));
  const vm = await VirtualMachine.create(executable, { devices: [createHostDevice()] });
  return async (shape: readonly number[], values: readonly number[]) => {
    const result = await vm.get('main')(vm.tensor(HostTensor.from('float32', shape, values)));
    const [y] = await vm.read(result instanceof TensorValue ? [result] : []);
    return { shape: y?.shape, values: Array.from(y?.data ?? [], Number) };
  };
}

/** Rows are padded to a multiple of four, then cut into windows of four. */
const WINDOWS: OnnxModelSpec = {
  inputs: [{ name: 'x', shape: ['n', 'm', 'h', 1] }],
  nodes: [
    node('Shape', ['x'], 's'),
    node('Gather', ['s', 'two'], 'h'),
    node('Mod', ['h', 'four'], 'over'),
    node('Sub', ['four', 'over'], 'missing'),
    node('Mod', ['missing', 'four'], 'pad'),
    node('Concat', ['before', 'pad', 'zero'], 'pads', { axis: 0 }),
    node('Pad', ['x', 'pads'], 'padded'),
    node('Shape', ['padded'], 't'),
    node('Slice', ['t', 'zero', 'two', 'zero'], 'outer'),
    node('Concat', ['outer', 'windows'], 'to', { axis: 0 }),
    node('Reshape', ['padded', 'to'], 'y'),
  ],
  outputs: ['y'],
  initializers: {
    zero: int64(0),
    two: int64(2),
    four: int64(4),
    before: int64(0, 0, 0, 0, 0, 0),
    windows: int64(-1, 4, 1),
  },
};

/** Halves an odd length after padding it, and crops to the length again on the way back. */
function unet(levels: number): OnnxModelSpec {
  const nodes: OnnxNodeSpec[] = [];
  for (let i = 0; i < levels; i++) {
    nodes.push(
      node('Shape', [`a${i}`], `s${i}`),
      node('Gather', [`s${i}`, 'two'], `d${i}`),
      node('Mod', [`d${i}`, 'two'], `m${i}`),
      node('Concat', ['before', `m${i}`], `p${i}`, { axis: 0 }),
      node('Pad', [`a${i}`, `p${i}`], `b${i}`),
      node('Conv', [`b${i}`, 'w'], `a${i + 1}`, { strides: [2] }),
    );
  }
  for (let i = levels - 1; i >= 0; i--) {
    const from = i === levels - 1 ? `a${levels}` : `r${i + 1}`;
    nodes.push(
      node('Resize', [from, '', 'scales'], `u${i}`, {
        coordinate_transformation_mode: 'asymmetric',
        nearest_mode: 'floor',
      }),
      node('Slice', [`u${i}`, 'zero', `d${i}`, 'two'], `v${i}`),
      node('Add', [`v${i}`, `a${i}`], `r${i}`),
    );
  }
  return {
    inputs: [{ name: 'a0', shape: [1, 1, 't'] }],
    nodes,
    outputs: ['r0'],
    initializers: {
      zero: int64(0),
      two: int64(2),
      before: int64(0, 0, 0, 0, 0),
      scales: HostTensor.from('float32', [3], [1, 1, 2]),
      w: HostTensor.from('float32', [1, 1, 2], [0.5, 0.5]),
    },
  };
}

function unetOf(values: readonly number[], levels: number): number[] {
  if (levels === 0) return [...values];
  const half = Array.from(
    { length: Math.ceil(values.length / 2) },
    (_, i) => 0.5 * ((values[2 * i] ?? 0) + (values[2 * i + 1] ?? 0)),
  );
  const below = unetOf(half, levels - 1);
  return values.map((value, i) => value + (below[i >> 1] ?? 0));
}

/** Each length is the half of the last one and that: formulas that are written out double. */
function halves(levels: number): OnnxModelSpec {
  const nodes = Array.from({ length: levels }, (_, i) => [
    node('Slice', [`x${i}`, 'zero', 'end', 'zero', 'two'], `h${i}`),
    node('Concat', [`h${i}`, `x${i}`], `x${i + 1}`, { axis: 0 }),
  ]);
  return {
    inputs: [{ name: 'x0', shape: ['t'] }],
    nodes: nodes.flat(),
    outputs: [`x${levels}`],
    initializers: { zero: int64(0), two: int64(2), end: int64(99_999) },
  };
}

function halvesOf(values: readonly number[], levels: number): readonly number[] {
  if (levels === 0) return values;
  return halvesOf([...values.filter((_, i) => i % 2 === 0), ...values], levels - 1);
}

describe('sizes whose formulas would be long', () => {
  test('padding to a multiple, then windows, over three unbound sizes', async () => {
    const run = await load(WINDOWS);
    expect(await run([1, 2, 3, 1], counted(6))).toEqual({
      shape: [1, 2, 1, 4, 1],
      values: [1, 2, 3, 0, 4, 5, 6, 0],
    });
    expect((await run([2, 1, 8, 1], counted(16))).shape).toEqual([2, 1, 2, 4, 1]);
  });

  test('pads that the program computes are formulas of what it knows', () => {
    const [main] = importOnnx(writeOnnxModel(WINDOWS)).functions.values();
    expect(JSON.stringify(main)).not.toContain('signed_sizes');
  });

  test('a U-Net of 9 levels, which crops what it has padded', async () => {
    const run = await load(unet(9));
    for (const length of [1, 300, 517]) {
      const { shape, values } = await run([1, 1, length], counted(length));
      expect(shape).toEqual([1, 1, length]);
      expect(values).toEqual(unetOf(counted(length), 9));
    }
  });

  test('a chain in which each size is 3/2 of the last', async () => {
    const run = await load(halves(10));
    expect((await run([3], [1, 2, 3])).values).toEqual(halvesOf([1, 2, 3], 10));
    expect((await run([0], [])).shape).toEqual([0]);
  });
});
