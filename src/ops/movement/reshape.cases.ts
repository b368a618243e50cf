import type { OpCase, OpCases } from '../op-cases.ts';

export const reshapeCases: OpCases = {
  summary: 'The same elements in the same order under another shape.',
  cases: () => [
    reshapeCase([], [1, 1]),
    reshapeCase([1], []),
    reshapeCase([0, 4], [2, 0, 9]),
    reshapeCase([12], [3, 4]),
    reshapeCase([2, 3, 4], [4, 6]),
    reshapeCase([4, 6], [3, 2, 2, 2]),
    reshapeCase([5, 7, 3], [105]),
    reshapeCase([300, 211], [211, 300]),
    { title: 'bool', inputs: [{ dtype: 'bool', shape: [6] }], attributes: { shape: [2, 3] } },
  ],
  badCases: () => [
    reshapeCase([2, 3], [5]),
    reshapeCase([2, 3], [-1, 6]),
    { title: 'no shape', inputs: [{ dtype: 'float32', shape: [2] }] },
  ],
};

function reshapeCase(from: readonly number[], shape: readonly number[]): OpCase {
  return {
    title: `(${from.join(', ')}) to (${shape.join(', ')})`,
    inputs: [{ dtype: 'float32', shape: from }],
    attributes: { shape },
  };
}
