import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const scatterNdCases: OpCases = {
  summary:
    'x with a slice put at each tuple along the last axis of the indices: of several for one place ' +
    'the last, or all combined in their order. Negative indices count from the end; updates ' +
    'outside are dropped.',
  cases: () => [
    ndCase([8], [4, 1], [4, 3, 1, 7]),
    ndCase([4, 4, 4], [2, 1], [0, 2], { indexType: 'int64' }),
    ndCase([4, 4], [3, 1], [0, 0, -2], { reduction: 'add' }),
    ndCase([4, 4], [3, 1], [0, 0, -2], { reduction: 'mul', indexType: 'int64' }),
    ndCase([4, 3], [5, 2], [0, 0, 0, 0, 3, -1, 4, 0, 1, 2 ** 31 - 1], { reduction: 'max' }),
    ndCase([4, 3], [2, 2, 2], [0, 0, 0, 0, 3, -1, 1, 1], { reduction: 'min' }),
    ndCase([3, 2], [2, 0], [], { reduction: 'add' }),
    ndCase([3, 2], [2, 0], []),
    ndCase([3, 2], [0, 1], []),
    ndCase([0, 2], [0, 1], []),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'int64', reduction: 'add', indexType: 'int64' }),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'int32', reduction: 'min' }),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'uint32' }),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'bool' }),
    ndCase([4, 3], [3, 1], [1, 1, 0], { dtype: 'uint8', reduction: 'add' }),
    ndCase([2, 1, 2, 1, 2, 1, 2, 3], [2, 3], [1, 0, 1, 0, 0, 1]),
    ndCase([5, 3], [40, 1], manyIndices(40), { reduction: 'add' }),
    ndCase([5, 3], [40, 1], manyIndices(40), { dtype: 'uint8', reduction: 'max' }),
    ndCase([5, 3], [40, 1], manyIndices(40), { dtype: 'float16', indexType: 'int64' }),
    ndCase(
      [301, 65],
      [40, 1],
      Array.from({ length: 40 }, (_, i) => (i * 97) % 301),
    ),
  ],
  badCases: () => [
    ndCase([4], [2, 2], [0, 0, 0, 0]),
    {
      title: 'updates of another shape',
      inputs: [
        { dtype: 'float32', shape: [4, 4] },
        { dtype: 'int32', shape: [2, 1] },
        { dtype: 'float32', shape: [2, 3] },
      ],
    },
    ndCase([4], [2, 1], [0, 0], { dtype: 'bool', reduction: 'max' }),
  ],
};

/** Rows of five, each of which many updates go to. */
function manyIndices(count: number): number[] {
  return Array.from({ length: count }, (_, i) => (i * 7) % 6);
}

interface NdCaseOptions {
  readonly reduction?: string;
  readonly dtype?: DType;
  readonly indexType?: DType;
}

function ndCase(
  shape: Shape,
  indexShape: Shape,
  values: readonly number[],
  ...[options = {}]: NdCaseOptions[]
): OpCase {
  const { reduction = 'none', dtype = 'float32', indexType = 'int32' } = options;
  const at = values.length > 16 ? `${values.length} indices` : `[${values.join(', ')}]`;
  const updates = [...indexShape.slice(0, -1), ...shape.slice(indexShape.at(-1) ?? 0)];
  return {
    title: `${reduction} ${dtype} (${shape.join(', ')}) at ${indexType} (${indexShape.join(', ')}) ${at}`,
    inputs: [
      { dtype, shape },
      { dtype: indexType, shape: indexShape, values },
      { dtype, shape: updates },
    ],
    attributes: { reduction },
  };
}
