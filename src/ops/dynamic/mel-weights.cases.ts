import type { OpCases } from '../op-cases.ts';

export const melWeightsCases: OpCases = {
  summary:
    'The matrix from the spectrum of a transform of dft_length to mel_bins bins between two ' +
    'frequencies: float32 (dft_length / 2 + 1, mel_bins).',
  cases: () => [
    melCase([8, 16, 8192, 0, 4096]),
    melCase([5, 33, 16000, 20, 7000]),
    { ...melCase([0, 0, 8, 0, 1]), title: 'none', attributes: { where: 'a node' } },
  ],
  badCases: () => [
    {
      title: 'two rates',
      inputs: [1, 1, 2].map((size) => ({ dtype: 'int64', shape: [size] })),
    },
    {
      title: 'two edges',
      inputs: [
        ...melCase([1, 1, 1]).inputs,
        ...[1, 2].map((size) => ({ dtype: 'float32' as const, shape: [size] })),
      ],
    },
  ],
};

function melCase(values: readonly number[]) {
  return {
    title: values.join(', '),
    inputs: values.map((value, i) => ({
      dtype: i < 3 ? ('int64' as const) : ('float32' as const),
      shape: [],
      values: [value],
    })),
  };
}
