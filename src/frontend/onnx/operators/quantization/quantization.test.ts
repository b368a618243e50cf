import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DType } from '../../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import type { Shape } from '../../../../core/tensor/shape.ts';
import { IMPORTER_DEVICES } from '../../../../device/testing/node-devices.ts';
import type { Device } from '../../../../device/device.ts';
import { createHostDevice } from '../../../../device/host/host-device.ts';
import { TensorValue } from '../../../../runtime/values/value.ts';
import { VirtualMachine } from '../../../../runtime/virtual-machine.ts';
import { type OnnxAttribute, writeOnnxModel } from '../../../../testing/onnx-writer.ts';
import { seededRandom } from '../../../../core/random.ts';
import { compileOnnx } from '../../compile-onnx.ts';
import { importOnnx } from '../../import-onnx.ts';

interface Node {
  readonly op: string;
  readonly domain?: string;
  readonly opset?: number;
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** How many of the inputs, from the first, are given when the model runs. */
  readonly variables?: number;
}

type Inputs = readonly (HostTensor | undefined)[];

/** Plain numbers of the seeded generator, all integers. */
const random = seededRandom(17);
const integers = (count: number, low: number, high: number): number[] =>
  Array.from({ length: count }, () => low + Math.floor(random() * (high - low)));
const size = (shape: Shape) => shape.reduce((a, b) => a * b, 1);
const tensor = (dtype: DType, shape: Shape, values: readonly number[]) =>
  HostTensor.from(dtype, shape, values);
const scalar = (dtype: DType, value: number) => tensor(dtype, [], [value]);
const bytes = (dtype: 'int8' | 'uint8', shape: Shape) => {
  const [low, high] = dtype === 'int8' ? [-128, 128] : [0, 256];
  return tensor(dtype, shape, integers(size(shape), low, high));
};
/** Eighths, so that sums of products are exact. */
const eighths = (shape: Shape) =>
  tensor(
    'float32',
    shape,
    integers(size(shape), -16, 17).map((value) => value / 8),
  );
const values = (x: HostTensor): number[] => Array.from<number | bigint, number>(x.data, Number);
const at = (x: HostTensor | undefined, index: number) => Number(x?.data[index] ?? 0);

function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 === 0 ? below : below + 1;
}

const clampByte = (value: number, dtype: DType) =>
  dtype === 'int8' ? Math.min(Math.max(value, -128), 127) : Math.min(Math.max(value, 0), 255);

function modelOf({ op, domain, opset = 21, attributes = {}, variables = 1 }: Node, inputs: Inputs) {
  const given = inputs.flatMap((input, i) => (input === undefined ? [] : [{ input, i }]));
  const params = given.slice(0, variables);
  return {
    params,
    bytes: writeOnnxModel({
      opset,
      ...(domain === undefined ? {} : { opsets: { [domain]: 1 } }),
      initializers: Object.fromEntries(
        given.slice(variables).map(({ input, i }) => [`x${i}`, input]),
      ),
      inputs: params.map(({ input, i }) => ({
        name: `x${i}`,
        dtype: input.dtype,
        shape: input.shape,
      })),
      nodes: [
        {
          op,
          name: 'node',
          inputs: inputs.map((input, i) => (input === undefined ? '' : `x${i}`)),
          outputs: ['y'],
          attributes,
          ...(domain === undefined ? {} : { domain }),
        },
      ],
      outputs: ['y'],
    }),
  };
}

const microsoft = (op: string, attributes: Node['attributes'] = {}): Node => ({
  op,
  domain: 'com.microsoft',
  attributes,
});

describe.each(IMPORTER_DEVICES)('on $title', ({ open }) => {
  let device: Device;
  beforeAll(async () => {
    device = await open();
  });
  afterAll(() => device.destroy());

  async function run(node: Node, inputs: Inputs): Promise<HostTensor> {
    const { params, bytes: model } = modelOf(node, inputs);
    const vm = await VirtualMachine.create(compileOnnx(model), {
      devices: [device, createHostDevice()],
    });
    const given = params.map(({ input }) => vm.tensor(input));
    const result = await vm.get('main')(...given);
    if (!(result instanceof TensorValue)) throw new Error('no tensor');
    const [read] = await vm.read([result]);
    vm.dispose();
    if (read === undefined) throw new Error('nothing read');
    return read;
  }

  async function numbers(node: Node, inputs: Inputs): Promise<number[]> {
    return values(await run(node, inputs));
  }

  test.each([
    { bits: 4, blockSize: 16, zeros: 'none', m: 1 },
    { bits: 4, blockSize: 32, zeros: 'packed', m: 3 },
    { bits: 4, blockSize: 32, zeros: 'packed', m: 18 },
    { bits: 4, blockSize: 256, zeros: 'floats', m: 2 },
    { bits: 8, blockSize: 64, zeros: 'packed', m: 1 },
    { bits: 8, blockSize: 128, zeros: 'none', m: 20 },
    { bits: 2, blockSize: 16, zeros: 'packed', m: 5 },
  ] as const)(
    'MatMulNBits of $bits bits in blocks of $blockSize, zero points $zeros, $m rows',
    async ({ bits, blockSize, zeros, m }) => {
      const [k, n] = [100, 6];
      const blocks = Math.ceil(k / blockSize);
      const codes = integers(n * blocks * blockSize, 0, 2 ** bits);
      const points = integers(n * blocks, 0, 2 ** bits);
      const scales = eighths([n * blocks]);
      const bias = eighths([n]);
      const a = eighths([m, k]);
      const packedZeros = Array.from({ length: n }, (_, row) =>
        pack(points.slice(row * blocks, (row + 1) * blocks), bits),
      ).flat();
      const zeroInput = {
        none: undefined,
        packed: tensor('uint8', [packedZeros.length], packedZeros),
        floats: tensor('float32', [n, blocks], points),
      }[zeros];
      const expected = Array.from({ length: m * n }, (_, i) => {
        const [row, column] = [Math.floor(i / n), i % n];
        let sum = at(bias, column);
        for (let p = 0; p < k; p++) {
          const block = column * blocks + Math.floor(p / blockSize);
          const zero = zeros === 'none' ? 2 ** (bits - 1) : (points[block] ?? 0);
          const code = codes[column * blocks * blockSize + p] ?? 0;
          sum += at(a, row * k + p) * (code - zero) * at(scales, block);
        }
        return sum;
      });
      const weights = tensor('uint8', [n, blocks, (blockSize * bits) / 8], pack(codes, bits));
      const node = microsoft('MatMulNBits', {
        K: k,
        N: n,
        bits,
        block_size: blockSize,
        accuracy_level: 4,
      });
      const inputs = [a, weights, scales, zeroInput, undefined, bias];
      expect(await numbers(node, inputs)).toEqual(expected);
    },
  );

  test.each([
    { dtype: 'int4', perByte: 1, zeros: true },
    { dtype: 'uint4', perByte: 1, zeros: false },
    { dtype: 'uint8', perByte: 2, zeros: true },
    { dtype: 'uint8', perByte: 2, zeros: false },
    { dtype: 'uint8', perByte: 1, zeros: true },
  ] as const)('GatherBlockQuantized of $dtype, $perByte in each', async (row) => {
    const { dtype, perByte, zeros } = row;
    const bits = dtype === 'uint8' ? 8 / perByte : 4;
    const [rows, columns, block] = [5, 48, 16];
    const blocks = columns / block;
    const least = dtype === 'int4' ? -8 : 0;
    const codes = integers(rows * columns, least, least + 2 ** bits);
    const points = integers(rows * blocks, least, least + 2 ** bits);
    const scales = eighths([rows, blocks]);
    const indices = [4, 0, -2];
    const store = (values: number[], length: number) => {
      if (perByte === 1) return tensor(dtype, [values.length / length, length], values);
      const packed = Array.from({ length: values.length / length }, (_, i) =>
        pack(values.slice(i * length, (i + 1) * length), 4),
      ).flat();
      return tensor(dtype, [values.length / length, Math.ceil(length / 2)], packed);
    };
    const otherwise = dtype === 'uint8' ? 2 ** (bits - 1) : 0;
    const expected = indices.flatMap((index) =>
      Array.from({ length: columns }, (_, column) => {
        const from = (index + rows) % rows;
        const at_ = from * blocks + Math.floor(column / block);
        const zero = zeros ? (points[at_] ?? 0) : otherwise;
        return ((codes[from * columns + column] ?? 0) - zero) * at(scales, at_);
      }),
    );
    const inputs = [
      store(codes, columns),
      tensor('int64', [3], indices),
      scales,
      ...(zeros ? [store(points, blocks)] : []),
    ];
    const node = microsoft('GatherBlockQuantized', { block_size: 16, bits });
    for (const variables of [0, 1]) {
      const result = await run({ ...node, variables }, inputs);
      expect(result.shape).toEqual([3, columns]);
      expect(values(result).map((value) => value + 0)).toEqual(expected.map((value) => value + 0));
    }
  });

  test.each(['uint8', 'int8'] as const)('QLinearAdd and QLinearMul of %s', async (dtype) => {
    const [a, b] = [bytes(dtype, [3, 5]), bytes(dtype, [5])];
    const params = (scale: number, zero: number) => [scalar('float32', scale), scalar(dtype, zero)];
    const inputs = [a, ...params(0.5, 3), b, ...params(0.25, 7), ...params(2, 5)];
    const pair = (i: number) => [at(a, i) - 3, at(b, i % 5) - 7] as const;
    const expected = (value: (x: number, y: number) => number) =>
      Array.from({ length: 15 }, (_, i) =>
        clampByte(roundHalfEven(value(...pair(i)) / 2) + 5, dtype),
      );
    expect(await numbers(microsoft('QLinearAdd'), inputs)).toEqual(
      expected((x, y) => x * 0.5 + y * 0.25),
    );
    expect(await numbers(microsoft('QLinearMul'), inputs)).toEqual(
      expected((x, y) => x * 0.5 * y * 0.25),
    );
  });

  test('QLinearSigmoid and QLinearLeakyRelu, zero points left out', async () => {
    const x = tensor('int8', [6], [-128, -40, -1, 0, 33, 127]);
    const inputs = [x, scalar('float32', 0.0625), undefined, scalar('float32', 0.03125), undefined];
    const expected = (value: (x: number) => number) =>
      values(x).map((element) => clampByte(roundHalfEven(value(element * 0.0625) * 32), 'int8'));
    expect(await numbers(microsoft('QLinearSigmoid'), inputs)).toEqual(
      expected((value) => 1 / (1 + Math.exp(-value))),
    );
    expect(
      await numbers(microsoft('QLinearLeakyRelu', { alpha: { float: 0.25 } }), inputs),
    ).toEqual(expected((value) => (value < 0 ? value / 4 : value)));
  });

  test('QLinearAveragePool and QLinearGlobalAveragePool, channels first and last', async () => {
    const x = tensor('uint8', [1, 2, 2, 4], integers(16, 0, 256));
    const last = tensor(
      'uint8',
      [1, 2, 4, 2],
      Array.from({ length: 16 }, (_, i) => at(x, (i % 2) * 8 + Math.floor(i / 2))),
    );
    const params = [
      scalar('float32', 0.5),
      scalar('uint8', 2),
      scalar('float32', 0.25),
      scalar('uint8', 1),
    ];
    const mean = (channel: number, columns: readonly number[]) => {
      const places = [0, 4].flatMap((row) => columns.map((column) => channel * 8 + row + column));
      const sum = places.reduce((total, place) => total + (at(x, place) - 2) * 0.5, 0);
      return clampByte(roundHalfEven(sum / places.length / 0.25) + 1, 'uint8');
    };
    const pooled = [mean(0, [0, 1]), mean(0, [2, 3]), mean(1, [0, 1]), mean(1, [2, 3])];
    const [a = 0, b = 0, c = 0, d = 0] = pooled;
    const average = microsoft('QLinearAveragePool', { kernel_shape: [2, 2], strides: [2, 2] });
    expect(await numbers(average, [x, ...params])).toEqual(pooled);
    const lastAverage = { ...average, attributes: { ...average.attributes, channels_last: 1 } };
    expect(await numbers(lastAverage, [last, ...params])).toEqual([a, c, b, d]);
    const whole = [mean(0, [0, 1, 2, 3]), mean(1, [0, 1, 2, 3])];
    const global = (channels_last: number) =>
      microsoft('QLinearGlobalAveragePool', { channels_last });
    expect(await numbers(global(0), [x, ...params])).toEqual(whole);
    expect(await numbers(global(1), [last, ...params])).toEqual(whole);
  });

  test('QLinearConcat', async () => {
    const parts = [bytes('uint8', [2, 2]), bytes('uint8', [2, 3])] as const;
    const inputs = [
      scalar('float32', 0.5),
      scalar('uint8', 10),
      parts[0],
      scalar('float32', 0.25),
      scalar('uint8', 4),
      parts[1],
      scalar('float32', 1),
      scalar('uint8', 100),
    ];
    const left = (i: number) => (at(parts[0], i) - 4) * 0.25;
    const right = (i: number) => at(parts[1], i) - 100;
    const joined = [left(0), left(1), right(0), right(1), right(2)];
    joined.push(left(2), left(3), right(3), right(4), right(5));
    const expected = joined.map((value) => clampByte(roundHalfEven(value * 2) + 10, 'uint8'));
    expect(
      await numbers({ ...microsoft('QLinearConcat', { axis: 1 }), variables: 3 }, inputs),
    ).toEqual(expected);
  });

  test.each([12, 13])('QLinearSoftmax of opset %i', async (opset) => {
    const x = bytes('uint8', [2, 2, 3]);
    const inputs = [
      x,
      scalar('float32', 0.0625),
      scalar('uint8', 7),
      scalar('float32', 1 / 256),
      scalar('uint8', 0),
    ];
    const length = opset === 12 ? 6 : 3;
    const expected = values(x).map((value, i) => {
      const start = i - (i % length);
      const row = values(x)
        .slice(start, start + length)
        .map((other) => Math.exp((other - value) * 0.0625));
      return clampByte(roundHalfEven(256 / row.reduce((a, b) => a + b, 0)), 'uint8');
    });
    const node = microsoft('QLinearSoftmax', { axis: opset === 12 ? 1 : -1, opset });
    expect(await numbers(node, inputs)).toEqual(expected);
  });

  const products = (m: number, n: number, k: number) => {
    const [a, b] = [bytes('uint8', [m, k]), bytes('int8', [k, n])];
    const bZeros = integers(n, -5, 5);
    const sum = (row: number, column: number) => {
      let total = 0;
      for (let p = 0; p < k; p++) {
        total += (at(a, row * k + p) - 9) * (at(b, p * n + column) - (bZeros[column] ?? 0));
      }
      return total;
    };
    const zeros = [scalar('uint8', 9), tensor('int8', [n], bZeros)] as const;
    const sums = Array.from({ length: m * n }, (_, i) => sum(Math.floor(i / n), i % n));
    return { a, b, zeros, sums };
  };

  test('MatMulInteger with a zero point for each column', async () => {
    const { a, b, zeros, sums } = products(7, 9, 33);
    expect(await numbers({ op: 'MatMulInteger' }, [a, b, ...zeros])).toEqual(sums);
  });

  test('MatMulIntegerToFloat with a scale for each column, and a bias', async () => {
    const { a, b, zeros, sums } = products(2, 3, 8);
    const [scales, bias] = [eighths([3]), eighths([3])];
    const inputs = [a, b, scalar('float32', 0.5), scales, ...zeros, bias];
    expect(await numbers(microsoft('MatMulIntegerToFloat'), inputs)).toEqual(
      sums.map((sum, i) => sum * 0.5 * at(scales, i % 3) + at(bias, i % 3)),
    );
  });

  test('QGemm to bytes and to floats', async () => {
    const { a, b, zeros, sums } = products(2, 3, 8);
    const turned = tensor(
      'int8',
      [3, 8],
      Array.from({ length: 24 }, (_, i) => at(b, (i % 8) * 3 + Math.floor(i / 8))),
    );
    const c = tensor('int32', [3], [1000, -2000, 30]);
    const scale = (value: number) => scalar('float32', value);
    const inputs = [a, scale(0.5), zeros[0], turned, scale(0.25), zeros[1], c];
    const node = microsoft('QGemm', { transB: 1, alpha: { float: 2 } });
    const floats = sums.map((sum, i) => (sum + at(c, i % 3)) * 0.25);
    expect(await numbers(node, inputs)).toEqual(floats);
    expect(await numbers(node, [...inputs, scale(64), scalar('uint8', 100)])).toEqual(
      floats.map((value) => clampByte(roundHalfEven(value / 64) + 100, 'uint8')),
    );
  });

  test('DynamicQuantizeMatMul', async () => {
    const [m, n, k] = [3, 4, 6];
    const a = eighths([m, k]);
    const b = bytes('int8', [k, n]);
    const bias = eighths([n]);
    const [low, high] = [Math.min(0, ...values(a)), Math.max(0, ...values(a))];
    const scale = Math.fround((high - low) / 255);
    const zero = roundHalfEven(Math.fround(-low / scale));
    const codes = values(a).map((value) =>
      clampByte(roundHalfEven(Math.fround(value / scale)) + zero, 'uint8'),
    );
    const inputs = [a, b, scalar('float32', 0.5), scalar('int8', 3), bias];
    const result = await numbers(microsoft('DynamicQuantizeMatMul'), inputs);
    for (let i = 0; i < m * n; i++) {
      let sum = 0;
      for (let p = 0; p < k; p++) {
        const code = (codes[Math.floor(i / n) * k + p] ?? 0) - zero;
        sum += code * (at(b, p * n + (i % n)) - 3);
      }
      expect(result[i]).toBeCloseTo(sum * scale * 0.5 + at(bias, i % n), 3);
    }
  });

  test('MulInteger', async () => {
    const inputs = [
      tensor('int8', [3], [-128, 5, 127]),
      scalar('int8', 2),
      tensor('int8', [1], [-128]),
    ];
    expect(await numbers(microsoft('MulInteger'), inputs)).toEqual([16_640, -384, -16_000]);
  });

  test('ConvInteger of one and three spatial axes', async () => {
    const zeros = [scalar('uint8', 1), scalar('int8', -1)];
    const line = [
      tensor('uint8', [1, 1, 4], [1, 2, 3, 4]),
      tensor('int8', [1, 1, 2], [1, 9]),
      ...zeros,
    ];
    const padded: Node = { op: 'ConvInteger', attributes: { pads: [1, 0] } };
    expect(await numbers(padded, line)).toEqual([0, 10, 22, 34]);
    const cube = [
      tensor('uint8', [1, 1, 2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]),
      tensor('int8', [1, 1, 2, 2, 2], [0, 0, 0, 0, 0, 0, 0, 1]),
      ...zeros,
    ];
    expect(await numbers({ op: 'ConvInteger' }, cube)).toEqual([28 + 7]);
  });

  test('QLinearConv with a scale for each channel and a bias', async () => {
    const x = bytes('uint8', [1, 2, 4, 4]);
    const w = bytes('int8', [3, 2, 2, 2]);
    const scales = [0.5, 0.25, 1];
    const bias = [100, -200, 3];
    const inputs = [
      x,
      scalar('float32', 0.5),
      scalar('uint8', 128),
      w,
      tensor('float32', [3], scales),
      tensor('int8', [3], [0, 0, 0]),
      scalar('float32', 16),
      scalar('uint8', 120),
      tensor('int32', [3], bias),
    ];
    const expected = Array.from({ length: 27 }, (_, i) => {
      const [channel, row, column] = [Math.floor(i / 9), Math.floor(i / 3) % 3, i % 3];
      let sum = bias[channel] ?? 0;
      for (let tap = 0; tap < 8; tap++) {
        const [c, r, s] = [tap >> 2, (tap >> 1) & 1, tap & 1];
        sum += (at(x, c * 16 + (row + r) * 4 + column + s) - 128) * at(w, channel * 8 + tap);
      }
      const value = (sum * 0.5 * (scales[channel] ?? 0)) / 16;
      return clampByte(roundHalfEven(value) + 120, 'uint8');
    });
    expect(await numbers({ op: 'QLinearConv' }, inputs)).toEqual(expected);
  });

  test('QuantizeLinear in blocks that do not divide the axis', async () => {
    const x = tensor('float32', [2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const scales = tensor('float32', [2, 3], [1, 2, 4, 0.5, 1, 2]);
    const zeros = tensor('uint8', [2, 3], [0, 10, 20, 30, 40, 50]);
    const node: Node = { op: 'QuantizeLinear', attributes: { axis: -1, block_size: 2 } };
    const quantized = await run(node, [x, scales, zeros]);
    expect(values(quantized)).toEqual([1, 2, 12, 12, 21, 42, 44, 48, 49, 55]);
    const back = { ...node, op: 'DequantizeLinear' };
    expect(await numbers(back, [quantized, scales, zeros])).toEqual([
      1, 2, 4, 4, 4, 6, 7, 8, 9, 10,
    ]);
  });

  test('QuantizeLinear along an axis, output_dtype without a zero point', async () => {
    const x = tensor('float32', [2, 2], [1.5, 2.5, -3, 400]);
    const scales = tensor('float32', [2], [1, 2]);
    const attributes = { axis: 0, output_dtype: 3 };
    expect(await numbers({ op: 'QuantizeLinear', attributes }, [x, scales])).toEqual([
      2, 2, -2, 127,
    ]);
  });

  test('QuantizeLinear and DequantizeLinear by powers of two and by integers', async () => {
    const x = tensor('float32', [2], [3, 20]);
    // 2^(129 - 127) is 4.
    const powers = [x, tensor('float8e8m0', [], [129]), scalar('int8', 1)];
    expect(await numbers({ op: 'QuantizeLinear', opset: 25 }, powers)).toEqual([2, 6]);
    const back = [tensor('int8', [2], [2, 6]), ...powers.slice(1)];
    const attributes = { output_dtype: 1 };
    expect(await numbers({ op: 'DequantizeLinear', opset: 25, attributes }, back)).toEqual([4, 20]);
    const wide = [tensor('int32', [2], [7, -900]), tensor('int32', [], [2]), scalar('int8', 0)];
    expect(await numbers({ op: 'QuantizeLinear' }, wide)).toEqual([4, -128]);
  });

  test('QuantizeLinear rounds the quotient to the precision first', async () => {
    // 1.4998 is 1.5 in float16, which rounds to 2.
    const x = tensor('float32', [2], [1.4998, 1.25]);
    const attributes = { precision: 10, output_dtype: 2 };
    const node: Node = { op: 'QuantizeLinear', opset: 23, attributes };
    expect(await numbers(node, [x, scalar('float32', 1)])).toEqual([2, 1]);
  });
});

/** Codes of a few bits as bytes, the first in the low bits. */
function pack(codes: readonly number[], bits: number): number[] {
  const packed = new Array<number>(Math.ceil((codes.length * bits) / 8)).fill(0);
  for (const [i, code] of codes.entries()) {
    const byte = Math.floor((i * bits) / 8);
    packed[byte] = (packed[byte] ?? 0) | (code << ((i * bits) % 8));
  }
  return packed;
}

describe('refused', () => {
  const refusal = (node: Node, inputs: Inputs) => () => importOnnx(modelOf(node, inputs).bytes);
  const weights = [eighths([1, 32]), bytes('uint8', [4, 1, 16]), eighths([4])];
  const sizes = { K: 32, N: 4, bits: 4, block_size: 32 };

  test('MatMulNBits with groups in another order', () => {
    const order = tensor('int32', [32], integers(32, 0, 1));
    const inputs = [...weights, undefined, order];
    expect(refusal(microsoft('MatMulNBits', sizes), inputs)).toThrow(
      'node "node" (com.microsoft.MatMulNBits): got g_idx, expected blocks in order.',
    );
  });

  test('MatMulNBits of 3 bits', () => {
    expect(refusal(microsoft('MatMulNBits', { ...sizes, bits: 3 }), weights)).toThrow(
      'node "node" (com.microsoft.MatMulNBits): got 3 bits, expected 2, 4 or 8.',
    );
  });

  test('an output_dtype that is not the zero point’s', () => {
    const inputs = [eighths([2]), scalar('float32', 1), scalar('int8', 0)];
    expect(refusal({ op: 'QuantizeLinear', attributes: { output_dtype: 2 } }, inputs)).toThrow(
      'node "node" (QuantizeLinear): got output_dtype uint8, expected that of the zero point, int8.',
    );
  });
});
