import type { OpCases } from '../op-cases.ts';

export const dimsTensorCases: OpCases = {
  summary: 'Dimensions as the elements of a vector, int64.',
  cases: () => [
    { title: 'three', inputs: [], attributes: { dims: [3, -1, 5] } },
    { title: 'none', inputs: [], attributes: { dims: [] } },
  ],
  badCases: () => [{ title: 'no dims', inputs: [] }],
};

export const arangeCases: OpCases = {
  summary: 'size[0] integers from start[0] on by step, int64.',
  cases: () => [
    { title: 'four', inputs: [], attributes: { start: [2], size: [4], step: -3 } },
    { title: 'none', inputs: [], attributes: { start: [0], size: [0] } },
  ],
  badCases: () => [
    { title: 'negative size', inputs: [], attributes: { start: [0], size: [-1] } },
    { title: 'two starts', inputs: [], attributes: { start: [0, 1], size: [1] } },
  ],
};
