import { expect, test } from 'vitest';
import { loopDims } from './loop-dims.ts';

test.each([
  [
    'equal shapes are one loop',
    [2, 3, 4],
    [
      [2, 3, 4],
      [2, 3, 4],
    ],
    [{ size: 24, strides: [1, 1] }],
  ],
  ['a scalar stands still', [2, 3], [[2, 3], []], [{ size: 6, strides: [1, 0] }]],
  [
    'a row for each row',
    [2, 3],
    [[2, 3], [3]],
    [
      { size: 2, strides: [3, 0] },
      { size: 3, strides: [1, 1] },
    ],
  ],
  [
    'a channel for its pixels, batches left out',
    [1, 4, 5, 6],
    [
      [1, 4, 5, 6],
      [4, 1, 1],
    ],
    [
      { size: 4, strides: [30, 1] },
      { size: 30, strides: [1, 0] },
    ],
  ],
  [
    'rows and columns',
    [4, 5],
    [
      [4, 1],
      [1, 5],
    ],
    [
      { size: 4, strides: [1, 0] },
      { size: 5, strides: [0, 1] },
    ],
  ],
  ['a single element', [1, 1], [[1, 1], []], [{ size: 1, strides: [0, 0] }]],
  ['no axes', [], [[]], [{ size: 1, strides: [0] }]],
])('%s', (_, shape, operands, expected) => {
  expect(loopDims(shape, operands)).toEqual(expected);
});
