import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const padCases: OpCases = {
  summary:
    'Elements added before and after each axis, constant, reflected without repeating the edge, ' +
    'repeating the edge, or from the other end. Negative numbers take away first.',
  cases: () => [
    padCase([], []),
    padCase([4], [1, 2]),
    padCase([0], [1, 2]),
    padCase([0, 3], [0, 1, 0, 1]),
    padCase([3, 5], [0, 2, 1, 0], { value: 1.5 }),
    padCase([4, 6], [-1, 2, 1, -2]),
    padCase([1, 2, 5, 5], [0, 0, 1, 2, 0, 0, 3, 4]),
    padCase([4, 5], [3, 2, 1, 4], { mode: 'reflect' }),
    padCase([1, 3, 7, 9], [0, 0, 3, 2, 0, 0, 1, 8], { mode: 'reflect' }),
    padCase([4, 5], [3, 2, 7, 6], { mode: 'edge' }),
    padCase([4, 5], [-1, 2, 7, -1], { mode: 'edge' }),
    padCase([4, 5, 1], [9, 2, 2, 7, 11, 1], { mode: 'reflect' }),
    padCase([3, 8], [7, 0, 2, 0], { mode: 'wrap' }),
    padCase([4, 5], [3, 2, 9, 6], { mode: 'wrap' }),
    padCase([5, 6], [-1, 3, 4, -2], { mode: 'wrap' }),
    padCase([5, 6], [-2, 3, 6, -1], { mode: 'reflect' }),
    padCase([0, 3], [0, 2, 0, 1], { mode: 'wrap' }),
    padCase([2, 1, 2, 1, 2, 1, 2, 3], [0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0]),
    padCase([301, 257], [5, 3, 0, 1]),
    {
      title: 'int32',
      inputs: [{ dtype: 'int32', shape: [3] }],
      attributes: { pads: [1, 1], value: -7 },
    },
    {
      title: 'bool',
      inputs: [{ dtype: 'bool', shape: [3] }],
      attributes: { pads: [1, 1], value: 1 },
    },
    {
      title: 'bool with a fraction',
      inputs: [{ dtype: 'bool', shape: [3] }],
      attributes: { pads: [1, 1], value: 0.5 },
    },
    {
      title: 'int64 with a fraction',
      inputs: [{ dtype: 'int64', shape: [3] }],
      attributes: { pads: [1, 1], value: -2.5 },
    },
    padCase([3], [1, 1], { value: -0 }),
  ],
  badCases: () => [
    padCase([2, 3], [1, 1]),
    padCase([3], [-2, -2]),
    padCase([0], [1, 0], { mode: 'reflect' }),
    padCase([0], [1, 0], { mode: 'edge' }),
    padCase([0], [0, 1], { mode: 'wrap' }),
    {
      title: 'an infinite integer',
      inputs: [{ dtype: 'int64', shape: [2] }],
      attributes: { pads: [1, 1], value: Infinity },
    },
    padCase([3], [1, 0], { mode: 'symmetric' }),
  ],
};

function padCase(
  shape: Shape,
  pads: readonly number[],
  more: { readonly mode?: string; readonly value?: number } = {},
): OpCase {
  const mode = more.mode === undefined ? '' : ` ${more.mode}`;
  return {
    title: `(${shape.join(', ')}) by [${pads.join(', ')}]${mode}`,
    inputs: [{ dtype: 'float32', shape }],
    attributes: { pads, ...more },
  };
}
