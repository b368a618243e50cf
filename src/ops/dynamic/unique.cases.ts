import type { DType } from '../../core/tensor/dtype.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const uniqueIndicesCases: OpCases = {
  summary:
    'Where each different slice along axis comes first, in ascending order of slices or, not ' +
    'sorted, of positions.',
  cases: uniqueCases,
  badCases: uniqueBadCases,
};

export const uniqueCountsCases: OpCases = {
  summary: 'How often each different slice along axis occurs, in the order of unique_indices.',
  cases: uniqueCases,
  badCases: uniqueBadCases,
};

export const uniqueInverseCases: OpCases = {
  summary: 'For each slice along axis, which of the different ones it is.',
  cases: uniqueCases,
  badCases: uniqueBadCases,
};

function uniqueCases(): OpCase[] {
  return [
    uniqueCase('float32', [7], [2, 1, 1, 3, 4, 3, -0]),
    uniqueCase('float32', [4], [Number.NaN, 1, Number.NaN, 0]),
    uniqueCase('int32', [3, 3], [1, 0, 0, 1, 0, 0, 2, 3, 4]),
    uniqueCase('uint32', [2, 4, 2], [1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1], {
      axis: 1,
    }),
    uniqueCase('int64', [6], [5, 5, 1, 9, 1, 5], { sorted: false }),
    uniqueCase('bool', [4], [1, 0, 0, 1], { axis: -1 }),
    uniqueCase('float32', [0], []),
    uniqueCase('float32', [3, 0], []),
    { title: 'large', inputs: [{ dtype: 'int32', shape: [4097] }] },
  ];
}

function uniqueCase(
  dtype: DType,
  shape: Shape,
  ...[values, attributes = {}]: [readonly number[], Attributes?]
): OpCase {
  const title = `${dtype} (${shape.join(', ')}) ${JSON.stringify(attributes)}`;
  return { title, inputs: [{ dtype, shape, values }], attributes };
}

function uniqueBadCases(): OpCase[] {
  return [
    { title: 'a scalar', inputs: [{ dtype: 'float32', shape: [] }] },
    { title: 'no such axis', inputs: [{ dtype: 'int32', shape: [2] }], attributes: { axis: 1 } },
  ];
}
