import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const gatherCases: OpCases = {
  summary:
    'For each index, the slice of x at that place of the axis. The axis gives way to the axes of ' +
    'the indices. Negative indices count from the end; where an index lies outside, elements are 0.',
  cases: () => [
    gatherCase([5], [], [3]),
    gatherCase([5], [4], [3, 0, -1, -5]),
    gatherCase([7, 8], [2, 3], [6, 0, 2, 2, -7, -1]),
    gatherCase([7, 5], [3], [1, 4, -2], { axis: 0, indexType: 'int64' }),
    gatherCase([7, 5], [3], [1, 4, -2], { axis: 1 }),
    gatherCase([2, 7, 4], [2, 2], [1, 4, -2, 0], { axis: 1, indexType: 'int64' }),
    gatherCase([2, 7, 4], [], [2], { axis: 1 }),
    gatherCase([3, 8], [8], [7, 6, 5, 4, 3, 2, 1, 0], { axis: -1 }),
    gatherCase([3, 4], [4], [3, -4, 2 ** 31 - 1, -(2 ** 31)]),
    gatherCase([3, 4], [5], [2 ** 32, -(2 ** 32), 2 ** 40 + 1, -(2 ** 33) - 1, 2], {
      axis: 0,
      indexType: 'int64',
    }),
    gatherCase([0, 4], [2], [0, -1]),
    gatherCase([3, 4], [0, 2], []),
    gatherCase([3, 0], [2], [0, 1]),
    gatherCase([301, 64], [3], [300, -301, 17], { axis: 0, indexType: 'int64' }),
    gatherCase([4, 3], [2], [1, -1], { axis: 0, dtype: 'bool' }),
    gatherCase([4, 4], [2], [1, -1], { axis: 0, dtype: 'int32' }),
    gatherCase([4, 4], [2], [1, -1], { axis: 1, dtype: 'int64', indexType: 'int64' }),
  ],
  badCases: () => [
    gatherCase([3], [2], [0, 1], { axis: 1 }),
    gatherCase([], [2], [0, 0]),
    {
      title: 'indices are floats',
      inputs: [
        { dtype: 'float32', shape: [3] },
        { dtype: 'float32', shape: [2] },
      ],
    },
    { title: 'no indices', inputs: [{ dtype: 'float32', shape: [3] }] },
  ],
};

interface GatherCaseOptions {
  readonly axis: number;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function gatherCase(
  shape: Shape,
  indexShape: Shape,
  indices: readonly number[],
  ...[options]: GatherCaseOptions[]
): OpCase {
  const { axis, dtype = 'float32', indexType = 'int32' } = options ?? { axis: 0 };
  const list = indices.join(', ');
  return {
    title: `${dtype} (${shape.join(', ')}) at ${indexType} (${indexShape.join(', ')}) [${list}] of ${axis}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values: indices },
    ],
    attributes: { axis },
  };
}
