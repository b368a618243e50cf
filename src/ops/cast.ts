import type { DType } from '../core/dtype.ts';
import { isDType } from '../core/dtype.ts';
import { internalError } from '../core/errors.ts';
import type { Attributes } from '../core/primitive-function.ts';
import { stringAttribute } from './attributes.ts';
import type { OpCase, OpDefinition, ScalarContext } from './define-op.ts';
import { defineElementwise } from './elementwise.ts';
import { wgslOperandType } from './wgsl-literal.ts';

const DTYPES: readonly DType[] = ['float32', 'int32', 'uint32', 'bool'];

const target = (attributes: Attributes): DType => {
  const to = stringAttribute(attributes, 'to');
  if (!isDType(to)) throw internalError(`cast to ${to}`);
  return to;
};

/** Conversion of elements between dtypes. */
export const cast: OpDefinition = defineElementwise({
  name: 'cast',
  summary:
    'x as another dtype. Floats to integers round towards zero and saturate at the last float32 ' +
    'inside the range; integers of the same width keep their bits; to bool: whether x is not 0.',
  inputs: [{ name: 'x', dtypes: DTYPES }],
  attributes: { to: { type: 'dtype', oneOf: DTYPES } },
  output: (_, attributes) => target(attributes),
  scalar: {
    wgsl: ([x = ''], { output, width }) => `${wgslOperandType(output, width)}(${x})`,
    host: ([x = 0], context) => convert(x, context),
  },
  cases: () => [
    ...DTYPES.flatMap((from) =>
      DTYPES.map(
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
    { title: 'empty', inputs: [{ dtype: 'int32', shape: [0] }], attributes: { to: 'float32' } },
  ],
  badCases: () => [
    { title: 'no dtype', inputs: [{ dtype: 'float32', shape: [2] }] },
    {
      title: 'dtype that no kernel has',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { to: 'int64' },
    },
    {
      title: 'no such dtype',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { to: 'float' },
    },
  ],
});

function convert(x: number, { dtypes, output }: ScalarContext): number {
  if (output === 'bool') return x === 0 ? 0 : 1;
  if (dtypes[0] !== 'float32' || output === 'float32') return x;
  const [low, high] = output === 'int32' ? [-(2 ** 31), 2 ** 31 - 128] : [0, 2 ** 32 - 256];
  return Number.isNaN(x) ? 0 : Math.trunc(Math.min(Math.max(x, low), high));
}
