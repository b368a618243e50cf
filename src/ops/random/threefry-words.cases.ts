import type { OpCase, OpCases } from '../op-cases.ts';

const word = (shape: readonly number[], values?: readonly number[]): OpCase['inputs'][number] => ({
  dtype: 'uint32',
  shape,
  ...(values ? { values } : { range: [0, 2 ** 32] }),
});

/** Keys and counters of the test vectors that the Random123 library publishes. */
const PUBLISHED = [
  [0, 0xffff_ffff, 0x1319_8a2e],
  [0, 0xffff_ffff, 0x0370_7344],
  [0, 0xffff_ffff, 0x243f_6a88],
  [0, 0xffff_ffff, 0x85a3_08d3],
];

const float: OpCase['inputs'][number] = { dtype: 'float32', shape: [2] };

export const THREEFRY_CASES = {
  threefry: {
    summary:
      'The first word, or the second one, that Threefry-2x32 of 20 rounds makes of a counter under a key, all of two words (Salmon et al. 2011).',
    cases: () => [
      ...[false, true].map(
        (second): OpCase => ({
          title: `the ${second ? 'second' : 'first'} word of the published vectors`,
          inputs: PUBLISHED.map((values) => word([3], values)),
          attributes: { second },
        }),
      ),
      {
        title: 'all broadcast',
        inputs: [word([2, 1, 1]), word([2, 1, 1]), word([1, 1, 37]), word([2, 5, 1])],
      },
      { title: 'scalars for a key', inputs: [word([]), word([]), word([1000]), word([])] },
      { title: 'empty', inputs: [word([]), word([]), word([0]), word([1])] },
    ],
    badCases: () => [
      { title: 'floats', inputs: [float, float, float, float] },
      { title: 'half a key', inputs: [word([2]), word([2]), word([2])] },
    ],
  },
} satisfies Record<'threefry', OpCases>;
