import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';
import { MODES, PADDINGS } from './grid-sample.ts';

export const gridSampleCases: OpCases = {
  summary:
    'Samples of x (N, C, ...sizes) at the places that grid (N, ...points, rank) tells, from -1 to 1, ' +
    'the last axis first: (N, C, ...points).',
  cases: () => [
    gridCase([1, 1, 1, 1], [1, 1, 1]),
    ...MODES.flatMap((mode) =>
      PADDINGS.flatMap((padding) =>
        [false, true].map((align_corners) =>
          gridCase([2, 3, 5, 7], [2, 4, 3], { mode, padding, align_corners }),
        ),
      ),
    ),
    gridCase([1, 2, 9], [1, 11], { padding: 'reflection', align_corners: true }),
    gridCase([2, 2, 3, 4, 5], [2, 2, 3, 6], { padding: 'border' }),
    gridCase([1, 3, 4, 2, 5], [1, 3, 2, 2], { mode: 'cubic', padding: 'reflection' }),
    gridCase([1, 1, 3, 1], [1, 2, 5], { padding: 'reflection', align_corners: true }),
    gridCase([1, 2, 0, 3], [1, 2, 2]),
    gridCase([1, 2, 3, 3], [1, 0, 2]),
  ],
  badCases: () => [
    gridCase([2, 3], [2]),
    gridCase([1, 1, 2, 2, 2, 2], [1, 1, 1, 1, 1]),
    gridCase([2, 1, 3, 3], [1, 2, 2]),
    gridCase([1, 1, 0, 3], [1, 2, 2], { padding: 'border' }),
    gridCase([1, 1, 3, 3], [1, 2, 2], { mode: 'area' }),
  ],
};

function gridCase(x: Shape, points: Shape, attributes: Attributes = {}): OpCase {
  return {
    title: `(${x.join(', ')}) at (${points.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [
      { dtype: 'float32', shape: x },
      { dtype: 'float32', shape: [...points, x.length - 2], range: [-2.7, 2.7] },
    ],
    attributes,
  };
}
