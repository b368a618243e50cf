import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const scatterElementsCases: OpCases = {
  summary:
    'x with each update put at its own coordinates, with an index in place of the axis: of several ' +
    'for one place the last, or all combined in their order. Negative indices count from the end; ' +
    'updates outside are dropped.',
  cases: () => [
    scatterCase([3, 3], [2, 3], [1, 0, 2, 0, 2, 1]),
    scatterCase([1, 5], [1, 2], [1, 3], { axis: 1 }),
    scatterCase([1, 5], [1, 3], [1, -3, 1], { axis: 1, reduction: 'none', indexType: 'int64' }),
    scatterCase([1, 5], [1, 4], [1, 1, -4, 1], { axis: -1, reduction: 'add' }),
    scatterCase([4], [6], [3, 3, 0, -1, 9, -9], { reduction: 'mul' }),
    scatterCase([4, 2], [3, 2], [0, 1, 0, 1, 0, 3], { reduction: 'max' }),
    scatterCase([4, 2], [3, 1], [0, 0, 3], { reduction: 'min' }),
    scatterCase([4], [3], [3, 3, -4], { reduction: 'add', dtype: 'int32' }),
    scatterCase([4], [3], [3, 3, -4], { reduction: 'max', dtype: 'uint32' }),
    scatterCase([4], [4], [3, 3, 2, 2], { reduction: 'mul', dtype: 'int64' }),
    scatterCase([4], [4], [3, 3, 2, 2 ** 33], { dtype: 'int64', indexType: 'int64' }),
    scatterCase([4], [4], [3, 3, 2, 2], { dtype: 'bool' }),
    scatterCase([5], [4], [3, 3, 2, 2], { reduction: 'add', dtype: 'float16' }),
    scatterCase([5], [4], [3, 3, 2, 2], { reduction: 'min', dtype: 'int8' }),
    scatterCase([1, 2, 1, 2, 1, 2, 1, 3], [1, 1, 1, 2, 1, 1, 1, 2], [2, 0, 1, 1], { axis: 7 }),
    scatterCase([3, 4], [0, 4], []),
    scatterCase([0, 4], [0, 4], []),
    scatterCase([7, 130], [300, 130], manyIndices(39_000, 7), { reduction: 'add' }),
    scatterCase([5], [777], manyIndices(777, 5)),
  ],
  badCases: () => [
    scatterCase([3], [2, 1], [0, 0]),
    scatterCase([3, 1], [2, 2], [0, 0, 0, 0]),
    scatterCase([3], [2], [0, 0], { axis: 1 }),
    scatterCase([3], [2], [0, 0], { dtype: 'bool', reduction: 'add' }),
  ],
};

/** Indices that go around an axis in big steps, so that every place has many. */
function manyIndices(count: number, size: number): number[] {
  return Array.from({ length: count }, (_, i) => (i * 7919) % size);
}

interface ScatterCaseOptions {
  readonly axis?: number;
  readonly reduction?: string;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function scatterCase(
  shape: Shape,
  indexShape: Shape,
  values: readonly number[],
  ...[options = {}]: ScatterCaseOptions[]
): OpCase {
  const { axis = 0, reduction = 'none', dtype = 'float32', indexType = 'int32' } = options;
  const at = values.length > 16 ? `${values.length} places` : `[${values.join(', ')}]`;
  return {
    title: `${reduction} ${dtype} (${indexShape.join(', ')}) into (${shape.join(', ')}) at ${indexType} ${at} of axis ${axis}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values },
      { dtype, shape: indexShape },
    ],
    attributes: { axis, reduction },
  };
}
