import { boolAttribute } from '../attributes.ts';
import type { OpCase } from '../op-cases.ts';
import * as f from '../formula/build.ts';
import { defineBinary } from './elementwise-binary.ts';
import { NUMERIC, UNSIGNED_INTEGERS } from './number-dtypes.ts';

const floored = f.bound('rest', f.rem(f.A, f.B), (rest) => {
  const differs = f.notEqual(f.less(rest, 0), f.less(f.B, 0));
  return f.select(f.and(f.notEqual(rest, 0), differs), f.add(rest, f.B), rest);
});

/** Rounds the quotient down, or towards zero when `fmod`. */
export const modulo = defineBinary({
  name: 'mod',
  summary:
    'The remainder of a / b with the sign of b, or with that of a when fmod. Integers: 0 where b is 0.',
  dtypes: NUMERIC,
  attributes: { fmod: { type: 'bool', default: false } },
  tolerance: { rtol: 1e-6, atol: 1e-6 },
  ranges: [
    [-50, 50],
    [1, 9],
  ],
  formula: ({ attributes, output }) =>
    boolAttribute(attributes, 'fmod') || UNSIGNED_INTEGERS.includes(output)
      ? f.rem(f.A, f.B)
      : floored,
  cases: [
    ...(['float32', 'int32', 'uint32'] as const).flatMap((dtype) =>
      [false, true].map((fmod): OpCase => {
        const sign = dtype === 'uint32' ? 1 : -1;
        return {
          title: `${dtype} of either sign, fmod ${fmod}`,
          inputs: [
            { dtype, shape: [7], values: [7, 7 * sign, 7, 7 * sign, 6, 6 * sign, 0] },
            { dtype, shape: [7], values: [3, 3, 3 * sign, 3 * sign, 3, 3, 3 * sign] },
          ],
          attributes: { fmod },
        };
      }),
    ),
    {
      title: 'int32 by zero and over the edge',
      inputs: [
        { dtype: 'int32', shape: [3], values: [7, -(2 ** 31), -5] },
        { dtype: 'int32', shape: [3], values: [0, -1, 0] },
      ],
    },
    {
      title: 'quotients beyond the integers of float32',
      inputs: [
        { dtype: 'float32', shape: [6], values: [1e10, 3e38, -7e20, 1e7, 5.5, 1e-3] },
        { dtype: 'float32', shape: [6], values: [3, 7.25, 1.5, 0.1, 1e30, 1e-6] },
      ],
      attributes: { fmod: true },
    },
  ],
});
