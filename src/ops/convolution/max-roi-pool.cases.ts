import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const maxRoiPoolCases: OpCases = {
  summary:
    'The maxima of the cells of a grid over regions (R, 5) of x (N, C, H, W): (R, C, ...size). A ' +
    'cell outside of the image gives 0.',
  cases: () => [
    roiCase([1, 1, 1, 1], [[0, 0, 0, 0, 0]], { size: [1, 1] }),
    roiCase(
      [2, 3, 8, 9],
      [
        [1, 1, 2, 6, 7],
        [0, 3, 3, 2, 2],
        [0, 5, 4, 12, 11],
      ],
      { size: [3, 2] },
    ),
    roiCase(
      [1, 2, 10, 10],
      [
        [0, 3, 5, 14, 17],
        [0, -9, -9, -7, -7],
      ],
      { size: [4, 4], scale: 0.5 },
    ),
    roiCase([1, 2, 4, 4], [], { size: [2, 2] }),
  ],
  badCases: () => [
    { ...roiCase([1, 1, 4, 4], [[0, 0, 0, 1, 1]], {}), title: 'no size' },
    roiCase([1, 4, 4], [[0, 0, 0, 1, 1]], { size: [2, 2] }),
    {
      title: 'regions of four numbers',
      inputs: [
        [1, 1, 4, 4],
        [2, 4],
      ].map((shape) => ({ dtype: 'float32', shape })),
      attributes: { size: [2, 2] },
    },
  ],
};

function roiCase(x: Shape, rois: readonly (readonly number[])[], attributes: Attributes): OpCase {
  return {
    title: `${rois.length} of (${x.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [rois.length, 5], values: rois.flat() },
    ],
    attributes,
  };
}
