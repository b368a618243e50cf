import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

export const roiAlignCases: OpCases = {
  summary:
    'Means or maxima of samples between pixels, for the cells of a grid over regions (R, 4) of ' +
    'images of x (N, C, H, W): (R, C, ...size).',
  cases: () => [
    roiCase([1, 1, 1, 1], [[0, 0, 1, 1]], { size: [1, 1] }),
    ...[false, true].flatMap((max) =>
      [false, true].map((half_pixel) =>
        roiCase([2, 3, 8, 9], REGIONS, { size: [3, 2], max, half_pixel, sampling: 2 }),
      ),
    ),
    roiCase([1, 2, 10, 10], REGIONS, { size: [5, 5], scale: 0.5 }),
    roiCase([1, 2, 10, 10], REGIONS, { size: [2, 7], half_pixel: false, max: true }),
    roiCase([1, 2, 4, 4], [], { size: [2, 2] }),
  ],
  badCases: () => [
    { ...roiCase([1, 1, 4, 4], [[0, 0, 1, 1]], {}), title: 'no size' },
    roiCase([1, 4, 4], [[0, 0, 1, 1]], { size: [2, 2] }),
    {
      title: 'two regions of three images',
      inputs: [
        { dtype: 'float32', shape: [1, 1, 4, 4] },
        { dtype: 'float32', shape: [2, 4] },
        { dtype: 'int32', shape: [3] },
      ],
      attributes: { size: [2, 2] },
    },
  ],
};

const REGIONS = [
  [1, 2, 6, 7.5],
  [3.25, 3, 2, 2],
  [-4, -3, 12, 11],
];

function roiCase(x: Shape, rois: readonly (readonly number[])[], attributes: Attributes): OpCase {
  return {
    title: `${rois.length} of (${x.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [rois.length, 4], values: rois.flat() },
      { dtype: 'int32', shape: [rois.length], values: rois.map((_, i) => i % (x[0] ?? 1)) },
    ],
    attributes,
  };
}
