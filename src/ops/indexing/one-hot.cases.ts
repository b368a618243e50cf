import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const oneHotCases: OpCases = {
  summary:
    'Along a new axis of size depth, the second value at the index and the first everywhere else. ' +
    'Negative indices count from the end; an index outside is nowhere.',
  cases: () => [
    hotCase([], [2], 4),
    hotCase([3], [0, 7, 8], 10),
    hotCase([3], [0, -7, -8], 10, { axis: 1 }),
    hotCase([2, 2], [1, 9, 2, 4], 10, { axis: 1, indexType: 'int64' }),
    hotCase([2, 2], [1, 9, 2, 4], 10, { axis: -2 }),
    hotCase([2, 2], [1, 0, 2, -1], 3, { axis: 0, dtype: 'int64' }),
    hotCase([4], [11, 3, -5, 2 ** 31 - 1], 3),
    hotCase([3], [2 ** 32, 2 ** 32 + 1, -(2 ** 32)], 3, { indexType: 'int64' }),
    hotCase([3], [0, 1, 2], 0),
    hotCase([0, 3], [], 4),
    hotCase([4], [0, 1, 2, 1], 3, { axis: 0, dtype: 'bool' }),
  ],
  badCases: () => [
    hotCase([3], [0, 1, 2], -1),
    hotCase([3], [0, 1, 2], 3, { axis: 2 }),
    {
      title: 'three values',
      inputs: [
        { dtype: 'int32', shape: [2] },
        { dtype: 'float32', shape: [3] },
      ],
      attributes: { depth: [2] },
    },
  ],
};

interface HotCaseOptions {
  readonly axis?: number;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function hotCase(
  shape: Shape,
  values: readonly number[],
  depth: number,
  ...[options = {}]: HotCaseOptions[]
): OpCase {
  const { axis = -1, dtype = 'float32', indexType = 'int32' } = options;
  return {
    title: `${dtype} at ${indexType} [${values.join(', ')}] of ${depth} along ${axis}`,
    inputs: [
      { dtype: indexType, shape, values },
      { dtype, shape: [2], values: [0, 1] },
    ],
    attributes: { depth: [depth], axis },
  };
}
