import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const gatherElementsCases: OpCases = {
  summary:
    'For each index, the element of x at its own coordinates with the index in place of the ' +
    "axis'. Negative indices count from the end; where an index lies outside, elements are 0.",
  cases: () => [
    elementsCase([5], [4], [3, 0, -1, -5]),
    elementsCase([3, 3], [2, 3], [1, 2, 0, 2, 0, 0]),
    elementsCase([2, 2], [2, 2], [0, 0, 1, 0], { axis: 1, indexType: 'int64' }),
    elementsCase([3, 4], [2, 5], [0, 1, 2, 3, -1, -4, 0, 0, 2, 1], { axis: -1 }),
    elementsCase([2, 3, 4], [2, 1, 4], [0, 1, 2, -1, -3, 2, 0, 1], { axis: 1 }),
    elementsCase([3, 2], [4, 1], [3, -4, 2 ** 31 - 1, -(2 ** 31)]),
    elementsCase([3], [3], [2 ** 32, -(2 ** 33), 2], { axis: 0, indexType: 'int64' }),
    elementsCase([3, 4], [0, 4], []),
    elementsCase([0, 4], [2, 1], [0, 0]),
    elementsCase([3, 4], [3, 4], [0, 1, 2, 3, 3, 2, 1, 0, 1, 1, 2, 2], {
      axis: 1,
      dtype: 'int64',
    }),
    elementsCase([1, 2, 1, 2, 1, 1, 1, 2], [1, 1, 1, 2, 1, 1, 1, 1], [1, 0], { axis: 7 }),
    elementsCase([4], [3], [1, 0, 3], { axis: 0, dtype: 'bool' }),
  ],
  badCases: () => [
    elementsCase([3], [2, 2], [0, 0, 0, 0]),
    elementsCase([3, 2], [1, 3], [0, 0, 0]),
    elementsCase([3], [1], [0], { axis: 1 }),
  ],
};

interface ElementsCaseOptions {
  readonly axis: number;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function elementsCase(
  shape: Shape,
  indexShape: Shape,
  values: readonly number[],
  ...[options]: ElementsCaseOptions[]
): OpCase {
  const { axis, dtype = 'float32', indexType = 'int32' } = options ?? { axis: 0 };
  return {
    title: `${dtype} (${shape.join(', ')}) by ${indexType} [${values.join(', ')}] along ${axis}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values },
    ],
    attributes: { axis },
  };
}
