import type { Shape } from '../../core/tensor/shape.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const nonzeroCases: OpCases = {
  summary: 'Coordinates of the elements that are not zero, one column each, as int64 (rank, ?).',
  cases: () => [
    nonzeroCase('float32', [], [3]),
    nonzeroCase('float32', [5], [0, -0, 1, Number.NaN, 0]),
    nonzeroCase('int32', [2, 3], [0, 1, 2, 0, 0, 3]),
    nonzeroCase('uint32', [2, 1, 2], [0, 0, 0, 0]),
    nonzeroCase('bool', [2, 2], [1, 0, 0, 1]),
    nonzeroCase('int64', [3], [0, 2, 0]),
    { title: 'nothing', inputs: [{ dtype: 'float32', shape: [3, 0] }] },
    { title: 'large', inputs: [{ dtype: 'int32', shape: [57, 33] }] },
  ],
  badCases: () => [{ title: 'no input', inputs: [] }],
};

function nonzeroCase(dtype: DType, shape: Shape, values: readonly number[]): OpCase {
  return { title: `${dtype} (${shape.join(', ')})`, inputs: [{ dtype, shape, values }] };
}
