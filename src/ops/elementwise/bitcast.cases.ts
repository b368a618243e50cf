import type { DType } from '../../core/tensor/dtype.ts';
import type { OpCases } from '../op-cases.ts';

export const bitcastCases: OpCases = {
  summary: 'The bits of x as another dtype of the same size.',
  cases: () => [
    ...SAME_SIZES.flatMap((dtypes) =>
      dtypes.flatMap((from) =>
        dtypes.flatMap((to) =>
          [7, 8].map((count) => ({
            title: `${count} of ${from} as ${to}`,
            inputs: [{ dtype: from, shape: [count], ...(isWord(from) ? { range: NUMBERS } : {}) }],
            attributes: { to },
          })),
        ),
      ),
    ),
    { title: 'empty', inputs: [{ dtype: 'int32', shape: [0] }], attributes: { to: 'float32' } },
  ],
  badCases: () => [
    { title: 'sizes differ', inputs: [{ dtype: 'int8', shape: [2] }], attributes: { to: 'int32' } },
  ],
};

/** Bits of float32 from 0.0078 to 1.56, so that no comparison meets a NaN. */
const NUMBERS = [1_006_632_960, 1_070_000_000] as const;

const SAME_SIZES: readonly (readonly DType[])[] = [
  ['int8', 'uint8', 'bool'],
  ['int16', 'uint16', 'float16'],
  ['int32', 'uint32', 'float32'],
  ['int64', 'uint64'],
];

const isWord = (dtype: DType) => dtype === 'int32' || dtype === 'uint32';
