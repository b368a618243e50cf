import type { DType } from '../../core/tensor/dtype.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const rangeCases: OpCases = {
  summary: 'Numbers from start on by delta, those before limit; all three are single elements.',
  cases: () => [
    rangeCase('float32', [0, 2, 0.25]),
    rangeCase('float32', [1, 0, 1]),
    rangeCase('int32', [10, 4, -3]),
    rangeCase('uint32', [3, 9, 2]),
    rangeCase('int64', [-2, 3, 1]),
    rangeCase('float16', [0, 1, 0.25]),
    // The bits of 3, -1 and -0.5.
    rangeCase('bfloat16', [0x4040, 0xbf80, 0xbf00]),
    { ...rangeCase('int32', [0, 5, 1]), title: 'named', attributes: { where: 'a node' } },
  ],
  badCases: () => [
    {
      title: 'two starts',
      inputs: [2, 1, 1].map((size) => ({ dtype: 'int32', shape: [size], values: [] })),
    },
    { title: 'no delta', inputs: [0, 1].map(() => ({ dtype: 'int32', shape: [] })) },
  ],
};

function rangeCase(dtype: DType, values: readonly number[]): OpCase {
  return {
    title: `${dtype} ${values.join(', ')}`,
    inputs: values.map((value) => ({ dtype, shape: [], values: [value] })),
  };
}
