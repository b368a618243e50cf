import { expect, test } from 'vitest';
import { numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { describeTensor } from './describe-tensor.ts';

test('statistics leave out what is no finite number, and count it', () => {
  const values = [0, -0, 2, Number.NaN, 4, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const { statistics, histogram, first } = describeTensor(
    HostTensor.from('float16', [7], values.map(numberToFloat16)),
  );
  expect(statistics).toEqual({
    count: 7,
    minimum: 0,
    maximum: 4,
    mean: 1.5,
    deviation: Math.sqrt(2.75),
    nans: 1,
    infinities: 2,
    zeros: 2,
  });
  expect(histogram.flatMap((count, bin) => (count > 0 ? [[bin, count]] : []))).toEqual([
    [0, 2],
    [16, 1],
    [31, 1],
  ]);
  expect(first).toEqual(values);
});

test('a tensor of one value, of none, and of large integers', () => {
  expect(describeTensor(HostTensor.from('int32', [2], [7, 7]))).toMatchObject({
    statistics: { minimum: 7, maximum: 7, deviation: 0 },
    histogram: [2, ...new Array<number>(31).fill(0)],
  });
  const { statistics } = describeTensor(HostTensor.from('float32', [0], []));
  expect(statistics).toMatchObject({ count: 0, minimum: Number.NaN, mean: Number.NaN });
  const far = HostTensor.from('float64', [2], [1e9 + 1, 1e9 - 1]);
  expect(describeTensor(far).statistics.deviation).toBe(1);
  const big = HostTensor.from('int64', [2], [2n ** 62n, 0n]);
  expect(describeTensor(big).statistics.maximum).toBe(2 ** 62);
});

const pixel = (tensor: HostTensor, index: number) => {
  const { picture } = describeTensor(tensor);
  return picture && [...picture.rgba.subarray(index * 4, index * 4 + 4)];
};

test('pictures in the layouts that they come in', () => {
  const ramp = (count: number) => Array.from({ length: count }, (_, i) => i);
  const grey = HostTensor.from('uint8', [4, 5], ramp(20));
  expect(describeTensor(grey).picture).toMatchObject({ width: 5, height: 4 });
  expect(pixel(grey, 7)).toEqual([7, 7, 7, 255]);
  const interleaved = HostTensor.from('uint8', [4, 4, 4], ramp(64));
  expect(pixel(interleaved, 2)).toEqual([8, 9, 10, 11]);
  const planes = HostTensor.from(
    'float32',
    [1, 3, 4, 4],
    ramp(48).map((i) => i / 51),
  );
  expect(pixel(planes, 1)).toEqual([5, 85, 165, 255]);
  // Values outside of 0 to 1 are stretched to the range, and a tensor of equal values is grey.
  const logits = HostTensor.from(
    'float32',
    [1, 1, 4, 4],
    ramp(16).map((i) => i - 15),
  );
  expect(pixel(logits, 15)).toEqual([255, 255, 255, 255]);
  expect(pixel(HostTensor.from('float32', [4, 4], new Array(16).fill(9)), 0)).toEqual([
    128, 128, 128, 255,
  ]);
});

test('large pictures shrink, and what is none has none', () => {
  const { picture } = describeTensor(HostTensor.splat('float32', [600, 300], 0.5));
  expect(picture).toMatchObject({ width: 128, height: 256 });
  for (const shape of [[8], [2, 100], [5, 8, 8], [2, 3, 8, 8]]) {
    expect(describeTensor(HostTensor.zeros('float32', shape)).picture).toBe(undefined);
  }
});
