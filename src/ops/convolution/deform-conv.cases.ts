import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const deformConvCases: OpCases = {
  summary:
    'Two-dimensional convolution with moved taps: x (N, C, H, W), w (K, C / groups, R, S), offset ' +
    '(N, offset_groups * R * S * 2, ...), mask (N, offset_groups * R * S, ...).',
  cases: () => [
    deformCase([1, 1, 1, 1], [1, 1, 1, 1], [1, 1]),
    deformCase([2, 3, 6, 7], [4, 3, 3, 2], [6, 7], { pads: [1, 1, 1, 0] }),
    deformCase([1, 4, 7, 8], [6, 2, 2, 3], [3, 6], {
      groups: 2,
      offset_groups: 2,
      strides: [2, 1],
    }),
    deformCase([1, 4, 9, 9], [2, 4, 3, 3], [5, 5], { offset_groups: 4, dilations: [2, 2] }, false),
    deformCase([0, 1, 3, 3], [1, 1, 2, 2], [2, 2]),
  ],
  badCases: () => [
    deformCase([1, 1, 4], [1, 1, 2], [3]),
    {
      title: 'offsets of one group',
      inputs: [
        [1, 2, 4, 4],
        [1, 2, 2, 2],
        [1, 8, 3, 3],
      ].map((shape) => ({
        dtype: 'float32',
        shape,
      })),
      attributes: { offset_groups: 2 },
    },
    {
      title: 'a mask for another image',
      inputs: [
        [1, 1, 4, 4],
        [1, 1, 2, 2],
        [1, 8, 3, 3],
        [1, 4, 4, 4],
      ].map((shape) => ({
        dtype: 'float32',
        shape,
      })),
    },
  ],
};

function deformCase(
  x: Shape,
  w: Shape,
  image: Shape,
  ...[attributes = {}, hasMask = true]: [Attributes?, boolean?]
): OpCase {
  const taps = elementCount(w.slice(2)) * Number(attributes['offset_groups'] ?? 1);
  const shapes = [x, w, [x[0] ?? 0, taps * 2, ...image]];
  if (hasMask) shapes.push([x[0] ?? 0, taps, ...image]);
  return {
    title: `(${x.join(', ')}) by (${w.join(', ')}) ${JSON.stringify(attributes)}${hasMask ? '' : ' without mask'}`,
    inputs: shapes.map((shape) => ({ dtype: 'float32', shape })),
    attributes,
  };
}
