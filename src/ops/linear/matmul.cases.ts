import type { OpCase, OpCases } from '../op-cases.ts';

export const matmulCases: OpCases = {
  summary:
    'The matrix product of the last two axes, batch dimensions broadcast; a vector is a row on the ' +
    'left and a column on the right.',
  cases: () => [
    matmulCase([1, 1], [1, 1]),
    matmulCase([3], [3]),
    matmulCase([4], [4, 5]),
    matmulCase([5, 4], [4]),
    matmulCase([2, 3, 4], [4]),
    matmulCase([4], [2, 4, 3]),
    matmulCase([3, 5], [5, 7]),
    matmulCase([8, 8], [8, 8]),
    matmulCase([17, 33], [33, 19]),
    matmulCase([1, 64], [64, 100]),
    matmulCase([100, 64], [64, 1]),
    matmulCase([0, 4], [4, 3]),
    matmulCase([3, 0], [0, 4]),
    matmulCase([3, 4], [4, 0]),
    matmulCase([2, 3, 4], [2, 4, 5]),
    matmulCase([2, 1, 3, 4], [5, 4, 6]),
    matmulCase([2, 1, 3, 1, 2, 3], [1, 4, 1, 2, 3, 4]),
    matmulCase([70_000, 2, 1], [1, 2]),
    matmulCase([6, 2, 3], [3, 4]),
    matmulCase([3, 4], [6, 4, 2]),
    matmulCase([64, 64], [64, 64]),
    matmulCase([129, 257], [257, 131]),
    matmulCase([96, 520], [520, 68]),
    matmulCase([256, 128], [128, 256]),
  ],
  badCases: () => [
    matmulCase([2, 3], [4, 5]),
    matmulCase([], [3]),
    matmulCase([2, 3, 4], [3, 4, 5]),
    {
      title: 'bad dtype',
      inputs: [
        { dtype: 'int32', shape: [2, 2] },
        { dtype: 'int32', shape: [2, 2] },
      ],
    },
    {
      title: 'unknown attribute',
      inputs: [
        { dtype: 'float32', shape: [2, 2] },
        { dtype: 'float32', shape: [2, 2] },
      ],
      attributes: { trans_a: true },
    },
  ],
};

function matmulCase(a: readonly number[], b: readonly number[]): OpCase {
  return {
    title: `(${a.join(', ')}) and (${b.join(', ')})`,
    inputs: [
      { dtype: 'float32', shape: a },
      { dtype: 'float32', shape: b },
    ],
  };
}
