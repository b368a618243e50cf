import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const resampleCases: OpCases = {
  summary:
    'Sums of weighted neighbours along an axis of x. A row of the table (size, 1 + taps) says for an ' +
    'element where they begin, and their weights; where the begin is negative, the first weight is ' +
    'the element.',
  cases: () => [
    resampleCase([1], 0, [[0, 1]]),
    resampleCase([2, 3], 1, [
      [0, 0.25, 0.75],
      [1, 1, 0],
      [-1, 9, 0],
      [1, 0.5, 0.5],
    ]),
    resampleCase([2, 5, 7, 3], -3, [
      [2, -0.25, 0.5, 1],
      [0, 1, 2, 3],
    ]),
    resampleCase([130, 3, 67], 1, [
      [0, 0.5, 0.5],
      [1, 0.125, 0.75],
    ]),
    resampleCase([0, 3], 1, [[0, 1]]),
    // Lines in fours, and three that are left.
    resampleCase([11, 5], 1, [
      [0, 0.25, 0.75],
      [-1, 9, 0],
      [3, 0.5, 0.25],
    ]),
  ],
  badCases: () => [
    resampleCase([3], 1, [[0, 1]]),
    resampleCase([3], 0, [[0], [1]]),
    {
      title: 'a vector of indices',
      inputs: [3, 2].map((size) => ({ dtype: 'float32', shape: [size] })),
      attributes: { axis: 0 },
    },
  ],
};

function resampleCase(x: Shape, axis: number, table: readonly (readonly number[])[]): OpCase {
  return {
    title: `(${x.join(', ')}) along ${axis} by ${table.length} rows of ${table[0]?.length}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [table.length, table[0]?.length ?? 0], values: table.flat() },
    ],
    attributes: { axis },
  };
}
