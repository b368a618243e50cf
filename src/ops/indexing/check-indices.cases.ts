import type { OpCases } from '../op-cases.ts';

export const checkIndicesCases: OpCases = {
  summary:
    'The indices, of which lower <= index < below or index = except holds for each; one bound for all, ' +
    'or one for each place along the last axis. Where it does not, the run stops with an error of `where`.',
  cases: () => [
    {
      title: 'a vector',
      inputs: [{ dtype: 'int64', shape: [4], values: [0, 4, -5, 2] }],
      attributes: { lower: [-5], below: [5] },
    },
    {
      title: 'one that is allowed all the same',
      inputs: [{ dtype: 'int32', shape: [2, 2], values: [0, -100, 1, 2] }],
      attributes: { lower: [0], below: [3], except: -100, where: 'loss' },
    },
    {
      title: 'bounds of their own',
      inputs: [{ dtype: 'int64', shape: [2, 2], values: [0, 7, 1, -8] }],
      attributes: { lower: [0, -8], below: [2, 8] },
    },
    {
      title: 'a scalar',
      inputs: [{ dtype: 'int32', shape: [], values: [3] }],
      attributes: { lower: [0], below: [4] },
    },
    {
      title: 'none',
      inputs: [{ dtype: 'int32', shape: [0] }],
      attributes: { lower: [0], below: [0] },
    },
  ],
  badCases: () => [
    {
      title: 'floats',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { lower: [0], below: [4] },
    },
    {
      title: 'three bounds for two places',
      inputs: [{ dtype: 'int32', shape: [2] }],
      attributes: { lower: [0, 0, 0], below: [1, 1, 1] },
    },
  ],
};
