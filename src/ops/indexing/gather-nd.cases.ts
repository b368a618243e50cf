import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const gatherNdCases: OpCases = {
  summary:
    'For each tuple along the last axis of the indices, the slice of x there. The first batch_dims ' +
    'axes belong to both inputs. Negative indices count from the end; where one lies outside, ' +
    'elements are 0.',
  cases: () => [
    ndCase([2, 2], [2, 2], [0, 0, 1, 1]),
    ndCase([2, 2], [2, 1], [1, 0], { indexType: 'int64' }),
    ndCase([2, 2, 2], [2, 1, 2], [0, 1, 1, 0]),
    ndCase([2, 2, 2], [2, 1], [1, 0], { batch_dims: 1, indexType: 'int64' }),
    ndCase([2, 3, 4, 8], [2, 3, 2], [0, 1, -1, -4, 2, 2, 3, 0, 1, 7, 2, -9], { batch_dims: 2 }),
    ndCase([3, 5], [4, 2], [0, 0, 2, -5, -3, 4, -1, -1]),
    ndCase([3, 5], [3, 2], [3, 0, 0, -6, 2, 2 ** 40], { indexType: 'int64' }),
    ndCase([7], [1], [3]),
    ndCase([3, 4], [2, 0], []),
    ndCase([3, 4], [0, 1], []),
    ndCase([0, 4], [2, 1], [0, -1]),
    ndCase([5, 4], [3, 1], [4, 4, 0], { dtype: 'int64' }),
    ndCase([5, 4], [3, 1], [1, 4, 0], { dtype: 'bool' }),
    ndCase([1, 2, 1, 2, 1, 2, 1, 3], [2, 4], [0, 1, 0, 1, 0, 0, 0, 0]),
    ndCase([1], [2, 0], []),
  ],
  badCases: () => [
    ndCase([3], [1, 2], [0, 0]),
    ndCase([3, 2], [2, 1], [0, 0], { batch_dims: 1 }),
    ndCase([3, 2], [3], [0, 0, 0], { batch_dims: 1 }),
    { title: 'no axis', inputs: [type('float32', [3]), type('int32', [])] },
  ],
};

const type = (dtype: DType, shape: Shape) => ({ dtype, shape });

interface NdCaseOptions {
  readonly batch_dims?: number;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function ndCase(
  shape: Shape,
  indexShape: Shape,
  values: readonly number[],
  ...[options = {}]: NdCaseOptions[]
): OpCase {
  const { batch_dims = 0, dtype = 'float32', indexType = 'int32' } = options;
  const tuples = `(${indexShape.join(', ')}) [${values.join(', ')}]`;
  return {
    title: `${dtype} (${shape.join(', ')}) by ${indexType} ${tuples} after ${batch_dims}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values },
    ],
    attributes: { batch_dims },
  };
}
