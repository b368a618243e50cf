import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const reverseSequenceCases: OpCases = {
  summary:
    'The first lengths[i] elements along time_axis of slice i of batch_axis in reverse order, the ' +
    'others as they are. Lengths beyond the axis count as its size.',
  cases: () => [
    reverseCase([4, 4], [4, 3, 2, 1]),
    reverseCase([4, 4], [1, 2, 3, 4], { batch_axis: 0, time_axis: 1 }),
    reverseCase([5, 2, 8], [0, 5]),
    reverseCase([3, 5, 2], [9, 1], { batch_axis: -1, time_axis: 1 }),
    reverseCase([0, 3], [0, 0, 0]),
    reverseCase([3, 0], []),
    {
      title: 'bool by int32',
      inputs: [
        { dtype: 'bool', shape: [5, 2] },
        { dtype: 'int32', shape: [2], values: [5, 2] },
      ],
    },
  ],
  badCases: () => [
    reverseCase([4, 4], [4, 3]),
    reverseCase([4, 4], [4, 3, 2, 1], { batch_axis: 0, time_axis: 0 }),
  ],
};

function reverseCase(
  shape: Shape,
  lengths: readonly number[],
  attributes: { readonly batch_axis?: number; readonly time_axis?: number } = {},
): OpCase {
  return {
    title: `(${shape.join(', ')}) by [${lengths.join(', ')}] ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape },
      { dtype: 'int64', shape: [lengths.length], values: lengths },
    ],
    attributes,
  };
}
