import type { OpCase, OpCases } from '../op-cases.ts';

export const triluCases: OpCases = {
  summary:
    'The upper or lower triangle of matrices with the diagonal k above the main one, zeros elsewhere.',
  cases: () => [
    triluCase([4, 5], 0),
    triluCase([4, 5], 0, false),
    triluCase([2, 3, 3], 1),
    triluCase([2, 3, 3], -1, false),
    triluCase([3, 1, 7], -7),
    triluCase([3, 7, 4], 2 ** 40),
    triluCase([3, 7, 4], -(2 ** 40), false),
    triluCase([0, 5], 1),
    {
      title: 'int64',
      inputs: [
        { dtype: 'int64', shape: [4, 4] },
        { dtype: 'int32', shape: [], values: [1] },
      ],
    },
    {
      title: 'bool',
      inputs: [
        { dtype: 'bool', shape: [3, 3] },
        { dtype: 'int64', shape: [], values: [0] },
      ],
    },
  ],
  badCases: () => [
    triluCase([4], 0),
    {
      title: 'k is a vector',
      inputs: [
        { dtype: 'float32', shape: [2, 2] },
        { dtype: 'int64', shape: [1] },
      ],
    },
  ],
};

function triluCase(shape: readonly number[], k: number, upper = true): OpCase {
  return {
    title: `${upper ? 'upper' : 'lower'} of (${shape.join(', ')}) from ${k}`,
    inputs: [
      { dtype: 'float32', shape },
      { dtype: 'int64', shape: [], values: [k] },
    ],
    attributes: { upper },
  };
}
