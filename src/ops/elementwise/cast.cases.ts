import type { OpCase, OpCases } from '../op-cases.ts';
import { KERNEL_DTYPES } from '../lowering/placement.ts';

export const castCases: OpCases = {
  summary:
    'x as another dtype. Floats to integers round towards zero and saturate at the last float ' +
    'inside the range, NaN gives 0; to less than 32 bits they go by way of int32. Integers keep ' +
    'their low bits; to bool: whether x is not 0. ' +
    'float8 saturates or overflows as `saturate` says, float8e8m0 rounds by `round_mode`.',
  cases: () => [
    ...[...KERNEL_DTYPES].flatMap((from) =>
      [...KERNEL_DTYPES].map(
        (to): OpCase => ({
          title: `${from} to ${to}`,
          inputs: [{ dtype: from, shape: [5, 7] }],
          attributes: { to },
        }),
      ),
    ),
    {
      title: 'float32 to int32 saturates',
      inputs: [{ dtype: 'float32', shape: [6], values: [-3e9, 3e9, -1.9, 1.9, 0.5, -0.5] }],
      attributes: { to: 'int32' },
    },
    {
      title: 'float32 to uint32 saturates',
      inputs: [{ dtype: 'float32', shape: [4], values: [-3, 5e9, 3e9, 1.9] }],
      attributes: { to: 'uint32' },
    },
    {
      title: 'int64 of both words to float32',
      inputs: [{ dtype: 'int64', shape: [8], values: WIDE_INTEGERS }],
      attributes: { to: 'float32' },
    },
    {
      title: 'large uint32 to float32 rounds once',
      inputs: [
        {
          dtype: 'uint32',
          shape: [8],
          values: [
            0x80000080, 0x80000081, 0x80000180, 0x8000017f, 0xffffff80, 0xffffff7f, 0xffffffff, 3,
          ],
        },
      ],
      attributes: { to: 'float32' },
    },
    {
      title: 'int64 of both words to int32',
      inputs: [{ dtype: 'int64', shape: [8], values: WIDE_INTEGERS }],
      attributes: { to: 'int32' },
    },
    {
      title: 'float32 of any size to int64',
      inputs: [{ dtype: 'float32', shape: [7], values: [-1.9, 0.5, 3e9, -3e9, 1e18, 1e30, -1e30] }],
      attributes: { to: 'int64' },
    },
    {
      title: 'uint32 to int64 keeps the sign',
      inputs: [{ dtype: 'uint32', shape: [4], values: [0, 1, 2 ** 31, 2 ** 32 - 1] }],
      attributes: { to: 'int64' },
    },
    {
      title: 'float32 that is no number, or beyond the range, to uint8',
      inputs: [
        { dtype: 'float32', shape: [6], values: [NaN, Infinity, -Infinity, 300, -1, 255.9] },
      ],
      attributes: { to: 'uint8' },
    },
    {
      title: 'NaN to int32',
      inputs: [{ dtype: 'float32', shape: [3], values: [NaN, Infinity, -Infinity] }],
      attributes: { to: 'int32' },
    },
    {
      title: 'NaN to uint64',
      inputs: [{ dtype: 'float32', shape: [4], values: [NaN, Infinity, -Infinity, 2 ** 60] }],
      attributes: { to: 'uint64' },
    },
    {
      title: 'what is almost 0 to bool',
      inputs: [{ dtype: 'float32', shape: [5], values: [NaN, 1e-45, -0, 0, -Infinity] }],
      attributes: { to: 'bool' },
    },
    {
      title: 'float32 to float16 rounds once, to even, to infinity',
      inputs: [
        {
          dtype: 'float32',
          shape: [9],
          values: [
            65519,
            65520,
            -7e4,
            1 + 2 ** -11,
            1 + 3 * 2 ** -11,
            2 ** -25,
            3 * 2 ** -25,
            -0,
            0.1,
          ],
        },
      ],
      attributes: { to: 'float16' },
    },
    {
      title: 'int32 to int8 keeps the low bits',
      inputs: [{ dtype: 'int32', shape: [5], values: [128, -129, 255, 65_663, -1] }],
      attributes: { to: 'int8' },
    },
    {
      title: 'float8 overflows',
      inputs: [{ dtype: 'float32', shape: [4], values: [500, -500, 464, 0.1] }],
      attributes: { to: 'float8e4m3fn', saturate: false },
    },
    {
      title: 'float8e8m0 rounds to the nearest power of two',
      inputs: [{ dtype: 'float32', shape: [4], values: [1.4, 1.5, 3, 0.75] }],
      attributes: { to: 'float8e8m0', round_mode: 'nearest' },
    },
    { title: 'empty', inputs: [{ dtype: 'int32', shape: [0] }], attributes: { to: 'float32' } },
  ],
  badCases: () => [
    { title: 'no dtype', inputs: [{ dtype: 'float32', shape: [2] }] },
    {
      title: 'round mode',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { to: 'float8e8m0', round_mode: 'even' },
    },
    {
      title: 'no such dtype',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { to: 'float' },
    },
  ],
};

const WIDE_INTEGERS = [
  -1,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 40 + 2 ** 16 + 1,
  -(2 ** 53) + 1,
  2 ** 53 - 1,
  2 ** 32 + 2 ** 8 + 1,
];
