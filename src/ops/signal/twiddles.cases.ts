import type { OpCases } from '../op-cases.ts';

export const twiddlesCases: OpCases = {
  summary: 'cos and sin of 2 π i / length for each i below length: (length, 2).',
  cases: () => [
    { title: 'five', inputs: [], attributes: { length: [5] } },
    { title: 'four, double', inputs: [], attributes: { length: [4], dtype: 'float64' } },
    { title: 'none', inputs: [], attributes: { length: [0] } },
  ],
  badCases: () => [
    { title: 'integers', inputs: [], attributes: { length: [4], dtype: 'int32' } },
    { title: 'negative', inputs: [], attributes: { length: [-4] } },
  ],
};
