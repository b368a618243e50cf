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
import { seededRandom } from '../../../../core/random.ts';
import { compileOnnx } from '../../compile-onnx.ts';

interface Model {
  readonly op: string;
  readonly opset: number;
  /** Undefined leaves an operand out. */
  readonly inputs: readonly (HostTensor | undefined)[];
  /** Inputs that are constants of the model. */
  readonly constants?: readonly number[];
  /** Shapes of inputs where they are not those of the tensors. */
  readonly shapes?: readonly (OnnxInputSpec['shape'] | undefined)[];
  readonly attributes?: OnnxNodeSpec['attributes'];
}

const int64 = (value: number) => HostTensor.from('int64', [], [value]);
const f32 = (shape: Shape, values: readonly number[]) => HostTensor.from('float32', shape, values);
const random = (...shape: number[]) => {
  const next = seededRandom(elementCount(shape));
  return f32(
    shape,
    Array.from({ length: elementCount(shape) }, () => next() * 2 - 1),
  );
};

interface DirectTransform {
  readonly axis: number;
  readonly length: number;
  readonly inverse?: boolean;
}

/** Every complex number of the transform of x, in double precision, as the sum that defines it. */
function spectrum(x: HostTensor, { axis, length, inverse = false }: DirectTransform): number[] {
  const data = Array.from(x.data, Number);
  const parts = x.shape.at(-1) ?? 1;
  const size = x.shape[axis] ?? 1;
  const inner = elementCount(x.shape.slice(axis + 1, -1));
  const result: number[] = [];
  for (let outer = 0; outer < elementCount(x.shape.slice(0, axis)); outer++) {
    for (let k = 0; k < length; k++) {
      for (let i = 0; i < inner; i++) {
        let [re, im] = [0, 0];
        for (let j = 0; j < Math.min(size, length); j++) {
          const at = ((outer * size + j) * inner + i) * parts;
          const [a, b] = [data[at] ?? 0, parts === 2 ? (data[at + 1] ?? 0) : 0];
          const angle = ((inverse ? 2 : -2) * Math.PI * ((j * k) % length)) / length;
          re += a * Math.cos(angle) - b * Math.sin(angle);
          im += a * Math.sin(angle) + b * Math.cos(angle);
        }
        const scale = inverse ? length : 1;
        result.push(re / scale, im / scale);
      }
    }
  }
  return result;
}

/** The first half and the middle of a spectrum along the only axis. */
const half = (values: readonly number[]) =>
  values.slice(0, 2 * (Math.floor(values.length / 4) + 1));

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

  const expectNear = (actual: readonly number[], expected: readonly number[], within = 1e-5) => {
    expect(actual.length).toBe(expected.length);
    const differences = actual.map((value, i) => Math.abs(value - (expected[i] ?? 0)));
    expect(Math.max(0, ...differences)).toBeLessThan(within);
  };

  test.each([5, 8, 128, 210, 360, 509])('DFT of %i elements, and back', async (length) => {
    const x = random(2, length, 3, 1);
    const y = await run({ op: 'DFT', opset: 17, inputs: [x] });
    expect(y.shape).toEqual([2, length, 3, 2]);
    expectNear(y.values, spectrum(x, { axis: 1, length }), 2e-5);
    const inverse = { inverse: 1, axis: -3 };
    const back = await run({
      op: 'DFT',
      opset: 17,
      inputs: [f32(y.shape, y.values)],
      attributes: inverse,
    });
    expectNear(
      back.values.filter((_, i) => i % 2 === 0),
      Array.from(x.data, Number),
    );
  });

  test.each([144, 7])(
    'DFT cut or filled up to %i, of a length that is a symbol',
    async (length) => {
      for (const size of [5, 200]) {
        const x = random(size, 2);
        const inputs = [x, int64(length), int64(0)];
        const [constants, shapes] = [[1, 2], [['n', 2]]];
        const y = await run({ op: 'DFT', opset: 20, inputs, constants, shapes });
        expectNear(y.values, spectrum(x, { axis: 0, length }));
        const cut = await run({ op: 'DFT', opset: 20, inputs, constants: [2], shapes });
        expectNear(cut.values, y.values);
      }
    },
  );

  test.each([
    [7, 0],
    [130, 1],
    [256, 1],
  ])('one-sided DFT of %i elements and its inverse, the axis computed', async (length, axis) => {
    const shape = axis === 0 ? [length, 1] : [1, length, 1];
    const x = random(...shape);
    const attributes = { onesided: 1 };
    const y = await run({ op: 'DFT', opset: 20, inputs: [x, undefined, int64(axis)], attributes });
    expect(y.shape).toEqual([...shape.slice(0, -2), Math.floor(length / 2) + 1, 2]);
    expectNear(y.values, half(spectrum(x, { axis, length })));
    const inputs = [f32(y.shape, y.values), int64(length), int64(axis)];
    const back = await run({
      op: 'DFT',
      opset: 20,
      inputs,
      attributes: { onesided: 1, inverse: 1 },
    });
    expect(back.shape).toEqual(shape);
    expectNear(back.values, Array.from(x.data, Number));
  });

  test.each([
    [[], []],
    [[1, 3], []],
    [[1, 2, 3], [[1, 'length', 1]]],
  ] satisfies [number[], OnnxInputSpec['shape'][]][])(
    'STFT with the constants %j and shapes %j',
    async (constants, shapes) => {
      const signal = random(1, 50, 1);
      const window = random(12);
      const [elements, weights] = [signal, window].map(({ data }) => Array.from(data, Number)) as [
        number[],
        number[],
      ];
      const model = { op: 'STFT', opset: 17, constants, shapes };
      const y = await run({ ...model, inputs: [signal, int64(7), window, int64(12)] });
      expect(y.shape).toEqual([1, 6, 7, 2]);
      const pieces = Array.from({ length: 6 }, (_, frame) => {
        const piece = weights.map((weight, i) => weight * (elements[frame * 7 + i] ?? 0));
        return half(spectrum(f32([12, 1], piece), { axis: 0, length: 12 }));
      });
      expectNear(y.values, pieces.flat());
    },
  );

  test('STFT without a window, of complex numbers, two-sided', async () => {
    const signal = random(2, 9, 2);
    const inputs = [signal, int64(4), undefined, int64(5)];
    const y = await run({ op: 'STFT', opset: 17, inputs, attributes: { onesided: 0 } });
    expect(y.shape).toEqual([2, 2, 5, 2]);
    const expected = [0, 4, 9, 13].flatMap((begin) =>
      spectrum(f32([5, 2], Array.from(signal.data, Number).slice(begin * 2, begin * 2 + 10)), {
        axis: 0,
        length: 5,
      }),
    );
    expectNear(y.values, expected);
  });

  test.each([
    ['HannWindow', (x: number) => 0.5 - 0.5 * Math.cos(x)],
    ['HammingWindow', (x: number) => 25 / 46 - (21 / 46) * Math.cos(x)],
    ['BlackmanWindow', (x: number) => 0.42 - 0.5 * Math.cos(x) + 0.08 * Math.cos(2 * x)],
  ])('%s', async (op, weight) => {
    for (const constants of [[], [0]]) {
      for (const periodic of [0, 1]) {
        const attributes = { periodic };
        const y = await run({ op, opset: 17, inputs: [int64(11)], constants, attributes });
        const expected = Array.from({ length: 11 }, (_, i) =>
          weight((2 * Math.PI * i) / (10 + periodic)),
        );
        expectNear(y.values, expected, 1e-6);
      }
      const attributes = { output_datatype: 11 };
      const y = await run({ op, opset: 17, inputs: [int64(0)], constants, attributes });
      expect(y).toEqual({ dtype: 'float64', shape: [0], values: [] });
    }
  });

  test('MelWeightMatrix of numbers known when compiling and when running', async () => {
    const numbers = [3, 12, 8000].map(int64);
    const inputs = [...numbers, f32([], [300]), f32([], [4000])];
    // 402, 751, 1100, 1448 and 1797 mel are places 0, 1, 1, 2 and 4 of the spectrum.
    const [none, first, second] = [
      [0, 0, 0],
      [1, 1, 0],
      [0, 0, 1],
    ];
    const expected = [none, first, second, [0, 0, 0.5], none, none, none].flat();
    for (const constants of [[], [0, 1, 2, 3, 4]]) {
      const y = await run({ op: 'MelWeightMatrix', opset: 17, inputs, constants });
      expect(y).toEqual({ dtype: 'float32', shape: [7, 3], values: expected });
    }
  });
});
