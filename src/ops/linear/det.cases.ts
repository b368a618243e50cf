import type { OpCases } from '../op-cases.ts';

export const detCases: OpCases = {
  summary: 'The determinants of the square matrices of the last two axes; 1 for empty ones.',
  cases: () => [
    ...[
      [1, 1],
      [2, 2],
      [3, 4, 4],
      [2, 3, 5, 5],
      [0, 3, 3],
      [2, 0, 0],
      [70, 3, 3],
      [1, 17, 17],
    ].map((shape) => ({
      title: `(${shape.join(', ')})`,
      inputs: [{ dtype: 'float32', shape, range: [-0.7, 0.7] }] as const,
    })),
    {
      title: 'no pivot at first, and none at all',
      inputs: [{ dtype: 'float32', shape: [2, 2, 2], values: [0, 2, 3, 4, 0, 1, 0, 2] }],
    },
  ],
  badCases: () => [
    { title: 'bad rank', inputs: [{ dtype: 'float32', shape: [3] }] },
    { title: 'not square', inputs: [{ dtype: 'float32', shape: [2, 3] }] },
    { title: 'bad dtype', inputs: [{ dtype: 'int32', shape: [2, 2] }] },
  ],
};
