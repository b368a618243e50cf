import { expect, test } from 'vitest';
import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { describeLite, type LiteInput } from '../testing/describe-lite.ts';
import type { TfliteTensorSpec } from '../testing/tflite-writer.ts';

interface Codes {
  readonly scale: readonly number[];
  readonly zero?: readonly number[];
  readonly axis?: number;
}

const output = (dtype: DType, shape: readonly number[], quantization: Codes): TfliteTensorSpec => ({
  dtype,
  shape,
  quantization,
});

const given = (
  dtype: DType,
  shape: readonly number[],
  values: readonly number[],
  quantization: Codes,
): LiteInput => ({ dtype, shape, quantization, given: HostTensor.from(dtype, shape, values) });

const stored = (
  dtype: DType,
  shape: readonly number[],
  data: readonly number[],
  quantization: Codes,
): LiteInput => ({ dtype, shape, quantization, data });

const valuesOf = (results: readonly HostTensor[]) =>
  results.map(({ dtype, elements }) => [dtype, ...Array.from(elements, Number)]);

const HALF = { scale: [0.5], zero: [10] };

describeLite('operators of codes', (run) => {
  test('QUANTIZE and DEQUANTIZE, also between scales', async () => {
    const floats: LiteInput = {
      dtype: 'float32',
      shape: [3],
      given: HostTensor.from('float32', [3], [-100, 0.75, 2]),
    };
    const codes = await run({
      op: 'QUANTIZE',
      inputs: [floats],
      outputs: [output('int8', [3], HALF)],
    });
    expect(valuesOf(codes)).toEqual([['int8', -128, 12, 14]]);
    const again = await run({
      op: 'QUANTIZE',
      inputs: [given('int8', [2], [14, 12], HALF)],
      outputs: [output('uint8', [2], { scale: [0.25], zero: [128] })],
    });
    expect(valuesOf(again)).toEqual([['uint8', 136, 132]]);
    const numbers = await run({
      op: 'DEQUANTIZE',
      inputs: [given('int8', [2], [14, -128], HALF)],
      outputs: [{ dtype: 'float32', shape: [2] }],
    });
    expect(valuesOf(numbers)).toEqual([['float32', 2, -69]]);
  });

  test('CONV_2D with a scale for each kernel and a bias', async () => {
    // x is 1 and 2; the kernels are (1, 2) by 1 and (1, 2) by 0.25; the biases 1 and 0.25.
    const results = await run({
      op: 'CONV_2D',
      options: ['conv2d', { padding: 1, strideW: 1, strideH: 1 }],
      inputs: [
        given('int8', [1, 1, 1, 2], [12, 14], HALF),
        stored('int8', [2, 1, 1, 2], [1, 2, 1, 2], { scale: [1, 0.25], axis: 0 }),
        stored('int32', [2], [2, 2], { scale: [0.5, 0.125], axis: 0 }),
      ],
      outputs: [output('int8', [1, 1, 1, 2], { scale: [0.5], zero: [-1] })],
    });
    // 1 * 1 + 2 * 2 + 1 = 6 and a quarter of it.
    expect(valuesOf(results)).toEqual([['int8', 11, 2]]);
  });

  test('DEPTHWISE_CONV_2D with scales of the last axis, FULLY_CONNECTED in int16', async () => {
    const depthwise = await run({
      op: 'DEPTHWISE_CONV_2D',
      options: ['depthwiseConv2d', { padding: 1, strideW: 1, strideH: 1, multiplier: 1 }],
      inputs: [
        given('uint8', [1, 1, 1, 2], [12, 14], HALF),
        stored('int8', [1, 1, 1, 2], [4, 4], { scale: [1, 0.5], axis: 3 }),
        undefined,
      ],
      outputs: [output('uint8', [1, 1, 1, 2], { scale: [1], zero: [0] })],
    });
    expect(valuesOf(depthwise)).toEqual([['uint8', 4, 4]]);
    const connected = await run({
      op: 'FULLY_CONNECTED',
      options: ['fullyConnected', {}],
      inputs: [
        given('int16', [1, 2], [100, 200], { scale: [0.01] }),
        stored('int8', [1, 2], [3, 4], { scale: [1] }),
        stored('int64', [1], [300], { scale: [0.01] }),
      ],
      outputs: [output('int16', [1, 1], { scale: [0.001] })],
    });
    expect(valuesOf(connected)).toEqual([['int16', 14000]]);
  });

  test('hybrid: weights of 4 bits for floats', async () => {
    const results = await run({
      op: 'FULLY_CONNECTED',
      options: ['fullyConnected', {}],
      inputs: [
        { dtype: 'float32', shape: [1, 3], given: HostTensor.from('float32', [1, 3], [1, 2, 3]) },
        stored('int4', [1, 3], [-8, 7, 1], { scale: [0.5] }),
        undefined,
      ],
      outputs: [{ dtype: 'float32', shape: [1, 1] }],
    });
    expect(valuesOf(results)).toEqual([['float32', 4.5]]);
  });

  test('ADD and CONCATENATION of several scales, PAD with the code of zero', async () => {
    const [x, y] = [
      given('int8', [2], [12, 14], HALF),
      given('int8', [2], [4, 8], { scale: [0.25], zero: [0] }),
    ];
    const wide = { scale: [1], zero: [0] };
    const sum = await run({
      op: 'ADD',
      options: ['add', { activation: 3 }],
      inputs: [x, y],
      outputs: [output('int8', [2], wide)],
    });
    expect(valuesOf(sum)).toEqual([['int8', 2, 4]]);
    const joined = await run({
      op: 'CONCATENATION',
      options: ['concatenation', { axis: 0 }],
      inputs: [x, y],
      outputs: [output('int8', [4], wide)],
    });
    expect(valuesOf(joined)).toEqual([['int8', 1, 2, 1, 2]]);
    const padded = await run({
      op: 'PAD',
      inputs: [x, { dtype: 'int32', shape: [1, 2], data: [1, 0] }],
      outputs: [output('int8', [3], HALF)],
    });
    expect(valuesOf(padded)).toEqual([['int8', 10, 12, 14]]);
  });
});
