import { expect, test } from 'vitest';
import { Tensor } from '../../client/index.ts';
import { parseLabels, scoresOf } from './results.ts';

test('scores are a list for one example, whatever dimensions of 1 it has', () => {
  const shares = Float32Array.of(0.25, 0.5, 0.25);
  for (const shape of [[3], [1, 3], [1, 3, 1, 1], [1, 1, 1, 3]]) {
    expect(scoresOf(new Tensor('float32', shares, shape))).toEqual(Float64Array.from(shares));
  }
  // Softmax of what is none yet.
  const scores = scoresOf(new Tensor('float32', Float32Array.of(0, Math.log(3)), [1, 2, 1, 1]));
  expect(scores?.[1]).toBeCloseTo(0.75, 6);
  // Three examples, places of a picture, one number, whole numbers.
  for (const shape of [[3, 1], [1, 1, 1], []]) {
    const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
    expect(scoresOf(new Tensor('float32', data, shape))).toBeUndefined();
  }
  const map = new Float32Array(12);
  expect(scoresOf(new Tensor('float32', map, [1, 3, 2, 2]))).toBeUndefined();
  expect(scoresOf(new Tensor('int32', Int32Array.of(1, 2), [1, 2]))).toBeUndefined();
});

test('names of classes are read from lists, lines, config.json and the file of ImageNet', () => {
  expect(parseLabels('["cat", "dog"]')).toEqual(['cat', 'dog']);
  expect(parseLabels('cat\r\n\ndog\n')).toEqual(['cat', 'dog']);
  expect(parseLabels('{"id2label": {"1": "dog", "0": "cat", "10": "emu"}}')).toEqual([
    'cat',
    'dog',
    'emu',
  ]);
  expect(parseLabels('{"0": ["n01440764", "tench"], "1": ["n01443537", "goldfish"]}')).toEqual([
    'tench',
    'goldfish',
  ]);
});
