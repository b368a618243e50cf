import type { OpCase, OpCases } from '../op-cases.ts';

export const broadcastToCases: OpCases = {
  summary: 'x repeated along axes of size 1 and along new leading axes.',
  cases: () => [
    broadcastCase([], []),
    broadcastCase([], [3, 5]),
    broadcastCase([1], [0]),
    broadcastCase([4], [4]),
    broadcastCase([5, 1], [5, 7]),
    broadcastCase([3, 1, 4], [2, 3, 5, 4]),
    broadcastCase([1, 333], [129, 333]),
    { title: 'bool', inputs: [{ dtype: 'bool', shape: [3, 1] }], attributes: { shape: [3, 2] } },
  ],
  badCases: () => [broadcastCase([2, 3], [3]), broadcastCase([2, 3], [2, 4])],
};

function broadcastCase(from: readonly number[], shape: readonly number[]): OpCase {
  return {
    title: `(${from.join(', ')}) to (${shape.join(', ')})`,
    inputs: [{ dtype: 'float32', shape: from }],
    attributes: { shape },
  };
}
