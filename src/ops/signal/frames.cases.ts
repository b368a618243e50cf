import type { DType } from '../../core/tensor/dtype.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const framesCases: OpCases = {
  summary:
    'Pieces of size elements, every step elements of an axis: the axis becomes two, the pieces and ' +
    'what is in them. What is left at the end is dropped.',
  cases: () => [
    framesCase([7], { axis: 0, size: [3], step: [2] }),
    framesCase([2, 9, 2], { axis: -2, size: [4], step: [3] }),
    framesCase([3, 5], { axis: 1, size: [5], step: [7] }),
    framesCase([3, 2], { axis: 1, size: [4], step: [1] }),
    framesCase([0, 4], { axis: 1, size: [2], step: [1] }),
    framesCase([2, 700], { axis: 1, size: [64], step: [16] }),
    framesCase([4, 3], { axis: 0, size: [2], step: [1] }, 'bool'),
  ],
  badCases: () => [
    framesCase([4], { axis: 1, size: [2], step: [1] }),
    framesCase([4], { axis: 0, size: [2], step: [0] }),
  ],
};

function framesCase(
  shape: Shape,
  attributes: NonNullable<OpCase['attributes']>,
  dtype: DType = 'float32',
): OpCase {
  return {
    title: `${dtype} (${shape.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [{ dtype, shape }],
    attributes,
  };
}
