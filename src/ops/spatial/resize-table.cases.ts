import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpCase, OpCases } from '../op-cases.ts';
import { COORDINATE_MODES, ROUNDING_MODES } from './resize-coordinates.ts';

export const resizeTableCases: OpCases = {
  summary:
    'For each element along an axis resized from sizes[0] to sizes[1]: the index of the nearest ' +
    'one, int32 (sizes[1]); or, to be interpolated, the index of the first of taps elements and ' +
    'their weights, float32 (sizes[1], 1 + taps). Index -1 stands for the extrapolation value, ' +
    'which is the first weight then. The scale is an input, else an attribute, where they are not 0, or ' +
    'the least (largest) of ratios, each of two dimensions.',
  cases: () => [
    ...COORDINATE_MODES.map((coordinates) => tableCase([5, 8], { coordinates })),
    ...ROUNDING_MODES.map((rounding) => tableCase([7, 4], { rounding, scale: 0.6 })),
    tableCase([4, 3], { mode: 'linear', taps: [2], coordinates: 'align_corners', ratios: [3, 4] }),
    tableCase([4, 9], { mode: 'cubic', taps: [4], exclude_outside: true, cubic_coeff_a: -0.5 }),
    tableCase([9, 4], { mode: 'linear', taps: [6], antialias: true }),
    tableCase([2, 3], { ratios: [3, 2, 5, 2], largest: true }),
    {
      ...tableCase([6, 6], {
        mode: 'linear',
        taps: [2],
        coordinates: 'tf_crop_and_resize',
        roi: [-0.5, 1.5],
        extrapolation: 10,
      }),
      title: 'beyond the borders',
    },
    {
      title: 'a given scale and part',
      inputs: [2, [0.25, 0.75]].map((values) => ({
        dtype: 'float32',
        shape: [[values].flat().length],
        values: [values].flat(),
      })),
      attributes: { sizes: [4, 8], coordinates: 'tf_crop_and_resize' },
    },
    tableCase([0, 0]),
  ],
  badCases: () => [
    tableCase([0, 3]),
    tableCase([3, 3], { mode: 'area' }),
    tableCase([3, 3], { coordinates: 'pixel' }),
    tableCase([3, 3], { mode: 'linear', taps: [0] }),
  ],
};

function tableCase(sizes: readonly number[], attributes: Attributes = {}): OpCase {
  return {
    title: `${sizes.join(' to ')} ${JSON.stringify(attributes)}`,
    inputs: [],
    attributes: { sizes, ...attributes },
  };
}
