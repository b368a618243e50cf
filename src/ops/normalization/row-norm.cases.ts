import type { Shape } from '../../core/tensor/shape.ts';
import type { OpCase, OpCases } from '../op-cases.ts';
import type { RowNormName } from './normalization.ts';

function rowNormCases(summary: string): OpCases {
  return {
    summary,
    cases: () => [
      rowNormCase([8]),
      rowNormCase([1, 1]),
      rowNormCase([3, 5], 0.5),
      rowNormCase([2, 7, 32], 1e-12),
      rowNormCase([0, 4]),
      rowNormCase([3, 0]),
      rowNormCase([70, 129]),
      rowNormCase([3, 4099]),
      rowNormCase([17, 63]),
      rowNormCase([5, 64]),
      rowNormCase([2, 1028]),
      {
        title: 'elements far from zero',
        inputs: [{ dtype: 'float32', shape: [3, 100], range: [100, 108] }],
      },
      ...[3, 4, 63, 64, 1028, 4099].map((size) => ({
        title: `rows of ${size} equal elements`,
        inputs: [
          {
            dtype: 'float32' as const,
            shape: [2, size],
            values: Array.from({ length: 2 * size }, (_, i) => (i < size ? 0.1 : 1234.567)),
          },
        ],
        attributes: { epsilon: 1e-12 },
      })),
    ],
    badCases: () => [
      rowNormCase([]),
      { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [3] }] },
    ],
  };
}

function rowNormCase(shape: Shape, ...[epsilon]: number[]): OpCase {
  const of = epsilon === undefined ? '' : `, epsilon ${epsilon}`;
  return {
    title: `(${shape.join(', ')})${of}`,
    inputs: [{ dtype: 'float32', shape, range: [-3, 5] }],
    attributes: epsilon === undefined ? {} : { epsilon },
  };
}

export const ROW_NORM_CASES = {
  layer_norm: rowNormCases(
    '(x - mean) / sqrt(variance + epsilon), both along the last axis; the variance is the mean of ' +
      'squares.',
  ),
  rms_norm: rowNormCases('x / sqrt(mean of squares + epsilon) along the last axis.'),
} satisfies Record<RowNormName, OpCases>;
