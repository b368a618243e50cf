import type { DType } from '../../core/tensor/dtype.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const fullCases: OpCases = {
  summary: 'A tensor whose elements all equal value.',
  cases: () => [
    fullCase([], 3),
    fullCase([0, 2], 3),
    fullCase([7], -1.5),
    fullCase([3, 5, 11], 0),
    fullCase([513, 257], 0.25),
    fullCase([3], -7, 'int32'),
    fullCase([3, 3], 4_000_000_000, 'uint32'),
    fullCase([5], 1, 'bool'),
    fullCase([5], 0.1, 'float16'),
    fullCase([7], -3, 'int8'),
    fullCase([4], 300, 'uint16'),
    fullCase([3], -5, 'int64'),
  ],
  badCases: () => [
    { title: 'no value', inputs: [], attributes: { shape: [2] } },
    { title: 'negative dimension', inputs: [], attributes: { shape: [2, -1], value: 0 } },
    { ...fullCase([2], -Infinity, 'int64'), title: 'an infinite integer' },
    {
      title: 'an input',
      inputs: [{ dtype: 'float32', shape: [] }],
      attributes: { shape: [], value: 0 },
    },
  ],
};

function fullCase(shape: readonly number[], value: number, dtype: DType = 'float32'): OpCase {
  return {
    title: `${dtype} (${shape.join(', ')}) of ${value}`,
    inputs: [],
    attributes: { shape, value, dtype },
  };
}
