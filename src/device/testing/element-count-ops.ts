import { type TestedOp, testedOp } from '../../ops/testing/tested-ops.ts';

/** Around the counts at which kernels of elements get more items for a lane, or more workgroups. */
const COUNTS = [
  1, 3, 16, 17, 63, 64, 65, 127, 255, 257, 260, 511, 513, 639, 641, 2047, 2052, 32_771, 131_075,
];

const op = testedOp('neg');

export const ELEMENT_COUNT_OPS: readonly TestedOp[] = [
  {
    ...op,
    inputs: op.inputs.map((input) => ({ ...input, dtypes: ['float32' as const] })),
    cases: () =>
      COUNTS.map((count) => ({
        title: `${count} elements`,
        inputs: [{ dtype: 'float32', shape: [count], range: [-8, 8] }],
      })),
  },
];
