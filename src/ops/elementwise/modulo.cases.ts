import type { OpCase } from '../op-cases.ts';
import { casesOfEach, binary } from './elementwise.cases.ts';
import { modulo } from './elementwise-binary.ts';

export const MODULO_CASES = casesOfEach([modulo], {
  mod: binary({
    summary:
      'The remainder of a / b with the sign of b, or with that of a when fmod. Integers: 0 where b is 0.',
    ranges: [
      [-50, 50],
      [1, 9],
    ],
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
  }),
});
