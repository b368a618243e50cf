import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { OpCase, OpCases } from '../op-cases.ts';
import type { PoolKind } from './pool-lowering.ts';
import type { PoolName } from './pool.ts';

function casesOf(kind: PoolKind, summary: string): OpCases {
  return {
    summary,
    cases: () => poolCases(kind),
    badCases: () => [
      { title: 'no kernel', inputs: [{ dtype: 'float32', shape: [1, 1, 4, 4] }] },
      poolCase([4, 4], { kernel: [2, 2] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2, 2] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], pads: [1, 1] }),
      poolCase([1, 1, 2, 2], { kernel: [3, 3] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], pads: [2, 0, 0, 0] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], strides: [0, 1] }),
      poolCase([1, 1, 4, 4], { kernel: [2, 2], ceil_mode: 1 }),
      {
        title: 'bad dtype',
        inputs: [{ dtype: 'int32', shape: [1, 1, 2, 2] }],
        attributes: { kernel: [1, 1] },
      },
    ],
  };
}

function poolCases(kind: PoolKind): OpCase[] {
  const isExact = kind === 'max' || kind === 'place';
  const average: OpCase[] = [
    poolCase([1, 2, 5, 5], { kernel: [3, 3], pads: [1, 1, 1, 1], count_include_pad: true }),
    poolCase([1, 1, 6, 7], {
      kernel: [3, 3],
      strides: [2, 2],
      pads: [1, 0, 1, 2],
      ceil_mode: true,
      count_include_pad: true,
    }),
  ];
  const bytes = (['int8', 'uint8'] as const).map(
    (dtype): OpCase => ({
      title: dtype,
      inputs: [{ dtype, shape: [2, 1, 5, 5] }],
      attributes: { kernel: [3, 3], pads: [1, 1, 1, 1] },
    }),
  );
  const places: OpCase[] = [
    poolCase([2, 2, 5, 6], { kernel: [2, 3], column_major: true }),
    poolCase([1, 2, 3, 4, 5], { kernel: [2, 2, 2], pads: [1, 0, 1, 0, 1, 0], column_major: true }),
  ];
  return [
    poolCase([1, 1, 1, 1], { kernel: [1, 1] }),
    poolCase([2, 3, 9], { kernel: [3], strides: [2], pads: [1, 0] }),
    poolCase([1, 2, 5, 6, 7], { kernel: [2, 3, 2], strides: [1, 2, 3], dilations: [2, 1, 3] }),
    poolCase([2, 3, 8, 8], { kernel: [2, 2], strides: [2, 2] }),
    poolCase([1, 2, 7, 9], { kernel: [3, 2], strides: [2, 1], pads: [1, 0, 2, 1] }),
    poolCase([1, 2, 10, 10], { kernel: [3, 3], dilations: [2, 3] }),
    poolCase([1, 3, 13, 13], { kernel: [3, 3], strides: [2, 2], ceil_mode: true }),
    poolCase([1, 1, 4, 4], {
      kernel: [2, 2],
      strides: [3, 3],
      pads: [1, 1, 1, 1],
      ceil_mode: true,
    }),
    poolCase([0, 3, 4, 4], { kernel: [2, 2] }),
    poolCase([1, 16, 55, 55], { kernel: [3, 3], strides: [2, 2] }),
    poolCase([2, 5, 17, 63], { kernel: [3, 2], strides: [1, 3], pads: [2, 0, 1, 1] }),
    poolCase([1, 9, 130, 127], { kernel: [2, 3], pads: [1, 1, 0, 2] }),
    poolCase([3, 1, 30, 31], { kernel: [5, 30], pads: [2, 0, 2, 0] }),
    ...(kind === 'mean' ? average : []),
    ...(kind === 'place' ? places : []),
    ...(isExact ? bytes : []),
  ];
}

function poolCase(shape: readonly number[], attributes: Attributes): OpCase {
  return {
    title: `(${shape.join(', ')}) ${JSON.stringify(attributes)}`,
    inputs: [{ dtype: 'float32', shape }],
    attributes,
  };
}

function globalCases(summary: string): OpCases {
  return {
    summary,
    cases: () =>
      [
        [1, 1, 1, 1],
        [2, 3, 5, 7],
        [1, 70, 13, 13],
        [0, 3, 2, 2],
        [2, 3, 9],
        [1, 2, 3, 4, 5],
        [1, 3, 150, 151],
      ].map((shape) => ({
        title: `(${shape.join(', ')})`,
        inputs: [{ dtype: 'float32', shape }],
      })),
    badCases: () => [
      { title: 'bad rank', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
      { title: 'no elements', inputs: [{ dtype: 'float32', shape: [2, 3, 0, 4] }] },
      { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [1, 1, 2, 2] }] },
    ],
  };
}

export const POOL_CASES = {
  max_pool: casesOf(
    'max',
    'The maximum of a window over one to three axes. NaN stays NaN on the host.',
  ),
  max_pool_indices: casesOf(
    'place',
    'Where the maximum of each window stands, counted over all of x; of equal ones the first.',
  ),
  avg_pool: casesOf(
    'mean',
    'The mean of a window over one to three axes, padding counted if asked.',
  ),
  sum_pool: casesOf('sum', 'The sum of a window over one to three axes.'),
  global_max_pool: globalCases('The maximum of each channel: (N, C, ...) to (N, C, 1, ...).'),
  global_avg_pool: globalCases('The mean of each channel: (N, C, ...) to (N, C, 1, ...).'),
} satisfies Record<PoolName, OpCases>;
