import type { OpCase, OpCases } from '../op-cases.ts';

export const transposeCases: OpCases = {
  summary: 'Axes in another order: axis i of the result is axis perm[i] of x.',
  cases: () => [
    transposeCase([], []),
    transposeCase([5], [0]),
    transposeCase([3, 5], [1, 0]),
    transposeCase([0, 5], [1, 0]),
    transposeCase([2, 3, 4], [2, 0, 1]),
    transposeCase([2, 3, 5, 7], [0, 2, 3, 1]),
    transposeCase([2, 3, 1, 2, 3], [4, 2, 0, 3, 1]),
    transposeCase([257, 301], [1, 0]),
    transposeCase([4, 4], [1, 0]),
    transposeCase([68, 132], [1, 0]),
    transposeCase([3, 8, 260], [0, 2, 1]),
    transposeCase([5, 12, 4, 9], [0, 2, 3, 1]),
    transposeCase([4, 1, 3, 8], [2, 3, 1, 0]),
    transposeCase([300, 20], [1, 0]),
    { ...transposeCase([3, 4], [1, 0], 'int32'), title: 'int32' },
    { ...transposeCase([3, 4], [1, 0], 'bool'), title: 'bool' },
  ],
  badCases: () => [
    transposeCase([2, 3], [0]),
    transposeCase([2, 3], [0, 0]),
    transposeCase([2, 3], [0, 2]),
    { title: 'no perm', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
  ],
};

function transposeCase(
  shape: readonly number[],
  perm: readonly number[],
  dtype: 'float32' | 'int32' | 'bool' = 'float32',
): OpCase {
  return {
    title: `(${shape.join(', ')}) by [${perm.join(', ')}]`,
    inputs: [{ dtype, shape }],
    attributes: { perm },
  };
}
