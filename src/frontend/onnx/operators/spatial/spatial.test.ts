import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../../../core/tensor/shape.ts';
import { IMPORTER_DEVICES } from '../../../../device/testing/node-devices.ts';
import type { Device } from '../../../../device/device.ts';
import { createHostDevice } from '../../../../device/host/host-device.ts';
import { TensorValue } from '../../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../../runtime/virtual-machine.ts';
import {
  type OnnxInputSpec,
  type OnnxNodeSpec,
  writeOnnxModel,
} from '../../../../testing/onnx-writer.ts';
import { compileOnnx } from '../../compile-onnx.ts';

interface Model {
  readonly op: string;
  readonly opset: number;
  readonly inputs: readonly (HostTensor | undefined)[];
  /** Inputs that are constants of the model. */
  readonly constants?: readonly number[];
  readonly shapes?: readonly (OnnxInputSpec['shape'] | undefined)[];
  readonly attributes?: OnnxNodeSpec['attributes'];
}

const f32 = (shape: Shape, ...values: number[]) => HostTensor.from('float32', shape, values);
const int64 = (...values: number[]) => HostTensor.from('int64', [values.length], values);
const counted = (...shape: number[]) =>
  f32(shape, ...Array.from({ length: elementCount(shape) }, (_, i) => i));

describe.each(IMPORTER_DEVICES)('on $title', ({ open }) => {
  let device: Device;

  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  async function run({ op, opset, inputs, constants = [], shapes = [], attributes = {} }: Model) {
    const names = inputs.map((input, i) => (input === undefined ? '' : `i${i}`));
    const given = inputs.flatMap((tensor, i) => (tensor === undefined ? [] : [{ tensor, i }]));
    const fed = given.filter(({ i }) => !constants.includes(i));
    const executable = compileOnnx(
      writeOnnxModel({
        opset,
        inputs: fed.map(({ tensor: { dtype, shape }, i }) => ({
          name: `i${i}`,
          dtype,
          shape: shapes[i] ?? shape,
        })),
        initializers: Object.fromEntries(
          given.flatMap(({ tensor, i }) => (constants.includes(i) ? [[`i${i}`, tensor]] : [])),
        ),
        nodes: [{ op, inputs: names, outputs: ['y'], attributes }],
        outputs: ['y'],
      }),
    );
    const vm = await VirtualMachine.create(executable, { devices: [device, createHostDevice()] });
    const result = await vm.get('main')(...fed.map(({ tensor }) => vm.tensor(tensor)));
    const [y] = await vm.read(result instanceof TensorValue ? [result] : []);
    vm.dispose();
    if (y === undefined) throw new Error('no result');
    return { dtype: y.dtype, shape: y.shape, values: Array.from(y.data, Number) };
  }

  test('Upsample of all versions', async () => {
    const x = f32([1, 1, 1, 3], 0, 4, 8);
    const expected = { dtype: 'float32', shape: [1, 1, 2, 6], values: [] };
    const nearest = [0, 0, 4, 4, 8, 8, 0, 0, 4, 4, 8, 8];
    const linear = [0, 2, 4, 6, 8, 8, 0, 2, 4, 6, 8, 8];
    const scales = f32([4], 1, 1, 2, 2);
    for (const [mode, values] of [['nearest', nearest] as const, ['linear', linear] as const]) {
      const attributes = { mode };
      const nine = { op: 'Upsample', opset: 9, inputs: [x, scales], attributes };
      const seven = { mode, scales: { floats: [1, 1, 2, 2] } };
      expect(await run({ ...nine, constants: [1] })).toEqual({ ...expected, values });
      expect(await run(nine)).toEqual({ ...expected, values });
      expect(await run({ op: 'Upsample', opset: 7, inputs: [x], attributes: seven })).toEqual({
        ...expected,
        values,
      });
    }
  });

  test('Resize of version 10 rounds up where it makes smaller', async () => {
    const inputs = [counted(1, 1, 2, 4), f32([4], 1, 1, 0.6, 0.6)];
    const y = await run({ op: 'Resize', opset: 10, inputs, constants: [1] });
    expect(y).toEqual({ dtype: 'float32', shape: [1, 1, 1, 2], values: [0, 2] });
  });

  test.each(['not_larger', 'not_smaller'])('Resize that keeps the ratio: %s', async (policy) => {
    const inputs = [counted(2, 4), undefined, undefined, int64(6, 7)];
    const attributes = { keep_aspect_ratio_policy: policy, nearest_mode: 'floor' };
    const common = { op: 'Resize', opset: 19, inputs, attributes };
    const isLarger = policy === 'not_smaller';
    const shape = isLarger ? [6, 12] : [4, 7];
    for (const given of [{ constants: [3] }, { shapes: [['h', 'w']] }]) {
      const y = await run({ ...common, ...given });
      expect(y.shape).toEqual(shape);
      const scale = isLarger ? 3 : 1.75;
      const at = (i: number, size: number) =>
        Math.min(Math.max(Math.floor((i + 0.5) / scale - 0.5), 0), size - 1);
      const [, columns = 1] = shape;
      expect(y.values).toEqual(
        y.values.map((_, i) => at(Math.floor(i / columns), 2) * 4 + at(i % columns, 4)),
      );
    }
  });

  test('Resize of some axes, of integers and booleans', async () => {
    const data = HostTensor.from('uint8', [2, 1, 2], [10, 250, 7, 9]);
    const linear = await run({
      op: 'Resize',
      opset: 19,
      inputs: [data, undefined, undefined, int64(4)],
      constants: [3],
      attributes: { axes: [-1], mode: 'linear' },
    });
    expect(linear).toEqual({
      dtype: 'uint8',
      shape: [2, 1, 4],
      values: [10, 70, 190, 250, 7, 7, 8, 9],
    });
    const bits = HostTensor.from('bool', [3], [1, 0, 1]);
    const nearest = await run({
      op: 'Resize',
      opset: 13,
      inputs: [bits, undefined, f32([1], 0.7)],
      attributes: { coordinate_transformation_mode: 'asymmetric', nearest_mode: 'ceil' },
    });
    expect(nearest).toEqual({ dtype: 'bool', shape: [2], values: [1, 1] });
  });

  test.each([0, 1])('AffineGrid with align_corners %i', async (align_corners) => {
    const theta = f32([1, 2, 3], 1, 0, 0.5, 0, -2, 0);
    const inputs = [theta, int64(1, 3, 2, 4)];
    const [xs, ys] = align_corners
      ? [
          [-1, -1 / 3, 1 / 3, 1],
          [-1, 1],
        ]
      : [
          [-0.75, -0.25, 0.25, 0.75],
          [-0.5, 0.5],
        ];
    const expected = ys.flatMap((y) => xs.flatMap((x) => [x + 0.5, -2 * y]));
    for (const constants of [[], [1]]) {
      const grid = await run({
        op: 'AffineGrid',
        opset: 20,
        inputs,
        constants,
        attributes: { align_corners },
      });
      expect(grid.shape).toEqual([1, 2, 4, 2]);
      for (const [i, value] of grid.values.entries())
        expect(value).toBeCloseTo(expected[i] ?? 0, 5);
    }
  });

  test('GridSample of older names, with symbols for sizes', async () => {
    const grid = f32([1, 1, 3, 2], -1, -1, 0, 0, 1, 0.5);
    const model = { op: 'GridSample', opset: 16, inputs: [counted(1, 1, 3, 3), grid] };
    const shapes = [
      ['n', 1, 'h', 'w'],
      ['n', 'a', 'b', 2],
    ];
    const attributes = { mode: 'bilinear', align_corners: 1 };
    const y = await run({ ...model, shapes, attributes });
    expect(y).toEqual({ dtype: 'float32', shape: [1, 1, 1, 3], values: [0, 4, 6.5] });
  });

  test('RoiAlign takes maxima of weighted pixels', async () => {
    const x = f32([1, 1, 2, 2], 1, 2, 3, 8);
    const inputs = [x, f32([1, 4], 0, 0, 2, 2), int64(0)];
    const attributes = { mode: 'max', sampling_ratio: 1 };
    const half = await run({ op: 'RoiAlign', opset: 16, inputs, attributes });
    expect(half).toEqual({ dtype: 'float32', shape: [1, 1, 1, 1], values: [2] });
    const whole = await run({ op: 'RoiAlign', opset: 10, inputs, attributes });
    expect(whole.values).toEqual([8]);
  });
});
