import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const sliceCases: OpCases = {
  summary:
    'Every step-th element from start up to end, along every axis. Negative starts and ends count ' +
    'from the end; those beyond the ends are clamped, but for a part between symbols that has one ' +
    'length for all of them: it has to lie inside. Steps may be negative.',
  cases: () => [
    sliceCase([], [], []),
    sliceCase([7], [2], [5]),
    sliceCase([7], [5], [2]),
    sliceCase([3, 5], [1, 0], [3, 4]),
    sliceCase([3, 5], [-2, -4], [-1, 100]),
    sliceCase([9, 11], [0, 1], [9, 11], [2, 3]),
    sliceCase([9, 11], [8, -1], [-100, 2], [-3, -1]),
    sliceCase([2, 3, 4, 5], [0, 1, 1, 2], [2, 3, 3, 4]),
    sliceCase([0, 3], [0, 1], [5, 2]),
    sliceCase([400, 301], [3, 5], [399, 300]),
    {
      title: 'bool',
      inputs: [{ dtype: 'bool', shape: [9] }],
      attributes: { starts: [1], ends: [8], steps: [2] },
    },
  ],
  badCases: () => [
    sliceCase([3, 5], [1], [3]),
    sliceCase([5], [0], [5], [0]),
    { title: 'no ends', inputs: [{ dtype: 'float32', shape: [5] }], attributes: { starts: [0] } },
  ],
};

function sliceCase(
  shape: Shape,
  starts: readonly number[],
  ends: readonly number[],
  ...[steps]: (readonly number[])[]
): OpCase {
  const by = steps === undefined ? '' : ` by [${steps.join(', ')}]`;
  return {
    title: `(${shape.join(', ')}) from [${starts.join(', ')}] to [${ends.join(', ')}]${by}`,
    inputs: [{ dtype: 'float32', shape }],
    attributes: { starts, ends, ...(steps === undefined ? {} : { steps }) },
  };
}
