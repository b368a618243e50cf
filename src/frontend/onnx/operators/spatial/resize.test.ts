import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { elementCount, type Shape } from '../../../../core/tensor/shape.ts';
import { IMPORTER_DEVICES } from '../../../../device/testing/node-devices.ts';
import type { Device } from '../../../../device/device.ts';
import { createHostDevice } from '../../../../device/host/host-device.ts';
import { TensorValue } from '../../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../../runtime/virtual-machine.ts';
import { type OnnxModelSpec, writeOnnxModel } from '../../../../testing/onnx-writer.ts';
import { seededRandom } from '../../../../core/random.ts';
import { compileOnnx } from '../../compile-onnx.ts';

interface ResizeCase {
  readonly shape: Shape;
  /** One for each axis, or sizes. */
  readonly scales?: readonly number[];
  readonly sizes?: readonly number[];
  readonly roi?: readonly number[];
  readonly attributes: Readonly<Record<string, string | number>>;
}

const text = ({ attributes }: ResizeCase, name: string, otherwise: string) =>
  String(attributes[name] ?? otherwise);

function outputShape({ shape, scales, sizes }: ResizeCase): number[] {
  return shape.map((dim, i) => sizes?.[i] ?? Math.floor(dim * (scales?.[i] ?? 1)));
}

/** The specification's formulas for one axis, written as differently as can be. */
function place(of: ResizeCase, axis: number, x: number): number {
  const mode = text(of, 'coordinate_transformation_mode', 'half_pixel');
  const size = of.shape[axis] ?? 1;
  const out = outputShape(of)[axis] ?? 1;
  const scale = of.scales?.[axis] ?? out / size;
  const [begin = 0, end = 1] = [of.roi?.[axis], of.roi?.[axis + of.shape.length]];
  if (mode === 'asymmetric') return x / scale;
  if (mode === 'tf_half_pixel_for_nn') return (x + 0.5) / scale;
  const aligned = scale > 1 ? out : size * scale;
  if (mode === 'align_corners') return out === 1 ? 0 : (x / (aligned - 1)) * (size - 1);
  if (mode === 'tf_crop_and_resize') {
    const along = out === 1 ? 0.5 : x / (size * scale - 1);
    return (begin + (end - begin) * along) * (size - 1);
  }
  const shift = (size * (1 - out / (size * scale))) / 2;
  if (mode === 'pytorch_half_pixel' && out === 1) return 0;
  return (x + 0.5) / scale - 0.5 + (mode === 'half_pixel_symmetric' ? shift : 0);
}

function weightsOf(of: ResizeCase, axis: number, at: number): number[] {
  const size = of.shape[axis] ?? 1;
  const weights = new Array<number>(size).fill(0);
  const add = (i: number, weight: number) => {
    const index = Math.min(Math.max(i, 0), size - 1);
    if (i === index || of.attributes['exclude_outside'] !== 1)
      weights[index] = (weights[index] ?? 0) + weight;
  };
  const mode = text(of, 'mode', 'nearest');
  if (mode === 'nearest') {
    const rounding = text(of, 'nearest_mode', 'round_prefer_floor');
    const [low, high] = [Math.floor(at), Math.ceil(at)];
    const isUp = rounding === 'round_prefer_ceil' ? at - low >= 0.5 : at - low > 0.5;
    const chosen = rounding === 'floor' ? low : rounding === 'ceil' ? high : isUp ? high : low;
    add(chosen, 1);
    return weights;
  }
  const out = outputShape(of)[axis] ?? 1;
  const shrink =
    of.attributes['antialias'] === 1 ? Math.min(of.scales?.[axis] ?? out / size, 1) : 1;
  const a = -0.75;
  for (let i = -20; i < size + 20; i++) {
    const d = Math.abs(i - at) * shrink;
    if (mode === 'linear') add(i, Math.max(0, 1 - d));
    else if (d <= 1) add(i, (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1);
    else if (d < 2) add(i, a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a);
  }
  const sum = weights.reduce((left, right) => left + right);
  return weights.map((weight) => weight / sum);
}

function resized(of: ResizeCase, x: readonly number[]): number[] {
  const out = outputShape(of);
  return Array.from({ length: elementCount(out) }, (_, i) => {
    let [rest, isOutside] = [i, false];
    const axes = out.toReversed().map((dim, k) => {
      const axis = out.length - 1 - k;
      const at = place(of, axis, rest % dim);
      rest = Math.floor(rest / dim);
      const isCropped = text(of, 'coordinate_transformation_mode', '') === 'tf_crop_and_resize';
      isOutside ||= isCropped && (at < 0 || at > (of.shape[axis] ?? 1) - 1);
      return weightsOf(of, axis, at);
    });
    if (isOutside) return Number(of.attributes['extrapolation_value'] ?? 0);
    return x.reduce((sum, value, j) => {
      let [left, weight] = [j, 1];
      for (const weights of axes) {
        weight *= weights[left % weights.length] ?? 0;
        left = Math.floor(left / weights.length);
      }
      return weight === 0 ? sum : sum + weight * value;
    }, 0);
  });
}

const floats = (values: readonly number[]) => HostTensor.from('float32', [values.length], values);
const COORDINATES = [
  'half_pixel',
  'half_pixel_symmetric',
  'pytorch_half_pixel',
  'align_corners',
  'asymmetric',
  'tf_half_pixel_for_nn',
] as const;

const CASES: readonly ResizeCase[] = [
  ...COORDINATES.flatMap((coordinate_transformation_mode): ResizeCase[] => [
    { shape: [2, 5, 7], scales: [1, 0.625, 1.75], attributes: { coordinate_transformation_mode } },
    {
      shape: [1, 2, 4, 6],
      sizes: [1, 2, 7, 3],
      attributes: { coordinate_transformation_mode, mode: 'linear' },
    },
    {
      shape: [3, 6, 4],
      scales: [1, 2.5, 0.75],
      attributes: { coordinate_transformation_mode, mode: 'cubic', exclude_outside: 1 },
    },
    {
      shape: [2, 9, 5],
      sizes: [2, 4, 8],
      attributes: { coordinate_transformation_mode, mode: 'linear', antialias: 1 },
    },
    {
      shape: [1, 11, 4],
      sizes: [1, 3, 4],
      attributes: { coordinate_transformation_mode, mode: 'cubic', antialias: 1 },
    },
  ]),
  ...['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'].flatMap(
    (nearest_mode): ResizeCase[] => [
      { shape: [3, 4], scales: [2, 3], attributes: { nearest_mode } },
      {
        shape: [3, 4],
        sizes: [9, 2],
        attributes: { nearest_mode, coordinate_transformation_mode: 'asymmetric' },
      },
    ],
  ),
  ...['nearest', 'linear', 'cubic'].map(
    (mode): ResizeCase => ({
      shape: [1, 5, 4],
      sizes: [1, 3, 6],
      roi: [0, 0.25, -0.5, 1, 0.75, 1.25],
      attributes: {
        mode,
        coordinate_transformation_mode: 'tf_crop_and_resize',
        extrapolation_value: 7,
      },
    }),
  ),
];

/** The operand that is given, and what it holds. */
function given(of: ResizeCase): readonly ['scales' | 'sizes', HostTensor] {
  const { scales, sizes = [] } = of;
  if (scales !== undefined) return ['scales', floats(scales)];
  return ['sizes', HostTensor.from('int64', [sizes.length], sizes)];
}

type Knowledge = 'all' | 'sizes of the data at run time' | 'nothing';

function model(of: ResizeCase, knowledge: Knowledge): OnnxModelSpec {
  const [name, tensor] = given(of);
  const { extrapolation_value, ...attributes } = of.attributes;
  const operands = { [name]: tensor, ...(of.roi && { roi: floats(of.roi) }) };
  const isKnown = knowledge !== 'nothing';
  const own = Object.entries(operands).map(([name, { dtype, shape }]) => ({ name, dtype, shape }));
  const shape = knowledge === 'all' ? of.shape : of.shape.map((_, axis) => `d${axis}`);
  return {
    opset: 19,
    inputs: [{ name: 'x', shape }, ...(isKnown ? [] : own)],
    ...(isKnown && { initializers: operands }),
    nodes: [
      {
        op: 'Resize',
        inputs: ['x', of.roi ? 'roi' : '', ...(name === 'scales' ? ['scales'] : ['', 'sizes'])],
        outputs: ['y'],
        attributes: {
          ...attributes,
          ...(extrapolation_value !== undefined && {
            extrapolation_value: { float: Number(extrapolation_value) },
          }),
        },
      },
    ],
    outputs: ['y'],
  };
}

describe.each(IMPORTER_DEVICES)('Resize on $title', ({ open }) => {
  let device: Device;

  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  async function run(spec: OnnxModelSpec, inputs: readonly HostTensor[]): Promise<HostTensor> {
    const executable = compileOnnx(writeOnnxModel(spec));
    const vm = await VirtualMachine.create(executable, { devices: [device, createHostDevice()] });
    const result = await vm.get('main')(...inputs.map((input) => vm.tensor(input)));
    const [y] = await vm.read(result instanceof TensorValue ? [result] : []);
    vm.dispose();
    if (y === undefined) throw new Error('no result');
    return y;
  }

  const all = CASES.map((of) => ({ of, title: JSON.stringify(of) }));

  test.each(all)('$title', async ({ of }) => {
    const random = seededRandom(7);
    const count = elementCount(of.shape);
    const x = HostTensor.from(
      'float32',
      of.shape,
      Array.from({ length: count }, () => random() * 4 - 2),
    );
    const expected = resized(of, Array.from(x.data, Number));
    const operands = [given(of)[1], ...(of.roi ? [floats(of.roi)] : [])];
    for (const knowledge of ['all', 'sizes of the data at run time', 'nothing'] as const) {
      const y = await run(model(of, knowledge), knowledge === 'nothing' ? [x, ...operands] : [x]);
      expect(y.shape, knowledge).toEqual(outputShape(of));
      const differences = Array.from(y.data, Number).map((value, i) => value - (expected[i] ?? 0));
      const worst = Math.max(...differences.map(Math.abs));
      expect(worst, knowledge).toBeLessThan(1e-5);
    }
  });
});
