import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const repeatCases: OpCases = {
  summary: 'Each element of x repeats[i] times in a row along axis i.',
  cases: () => [
    repeatCase([], []),
    repeatCase([3], [4]),
    repeatCase([2, 3, 5, 4], [1, 1, 2, 3]),
    repeatCase([2, 1, 3, 1, 2, 1, 2, 3], [1, 2, 1, 3, 1, 2, 1, 1]),
    repeatCase([0, 3], [2, 2]),
    repeatCase([3, 70, 65], [1, 2, 2]),
    repeatCase([3, 2], [2, 3], 'bool'),
    repeatCase([3, 5], [1, 2], 'int64'),
  ],
  badCases: () => [repeatCase([2, 3], [2]), repeatCase([2, 3], [2, 0])],
};

function repeatCase(shape: Shape, repeats: readonly number[], dtype: DType = 'float32'): OpCase {
  return {
    title: `${dtype} (${shape.join(', ')}) times [${repeats.join(', ')}]`,
    inputs: [{ dtype, shape }],
    attributes: { repeats },
  };
}
