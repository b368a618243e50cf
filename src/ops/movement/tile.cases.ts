import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const tileCases: OpCases = {
  summary: 'x repeated as a whole, repeats[i] times along axis i.',
  cases: () => [
    tileCase([], []),
    tileCase([3], [4]),
    tileCase([2, 3], [3, 2]),
    tileCase([5, 4], [3, 1]),
    tileCase([2, 3, 4, 5], [7, 6, 4, 2]),
    tileCase([2, 1, 3, 1, 2, 1, 2, 3], [1, 2, 1, 3, 1, 2, 1, 1]),
    tileCase([2, 3], [0, 2]),
    tileCase([0, 3], [2, 2]),
    {
      title: 'bool',
      inputs: [{ dtype: 'bool', shape: [3, 2] }],
      attributes: { repeats: [2, 3] },
    },
    {
      title: 'int64',
      inputs: [{ dtype: 'int64', shape: [3, 4] }],
      attributes: { repeats: [2, 1] },
    },
  ],
  badCases: () => [tileCase([2, 3], [2]), tileCase([2, 3], [2, -1])],
};

function tileCase(shape: Shape, repeats: readonly number[]): OpCase {
  return {
    title: `(${shape.join(', ')}) times [${repeats.join(', ')}]`,
    inputs: [{ dtype: 'float32', shape }],
    attributes: { repeats },
  };
}
