import { ALL_DTYPES, type DType, isDType } from '../../core/tensor/dtype.ts';
import { internalError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { stringAttribute } from '../attributes.ts';
import * as f from '../formula/build.ts';
import { defineElementwise } from './elementwise.ts';
import { isFloat } from './number-dtypes.ts';

const target = (attributes: Attributes): DType => {
  const to = stringAttribute(attributes, 'to');
  if (!isDType(to)) throw internalError(`cast to ${to}`);
  return to;
};

const SHORT_UNSIGNED: readonly DType[] = ['uint16', 'uint8', 'uint4', 'uint2'];

/** Conversion of elements between dtypes. */
export const cast = defineElementwise({
  name: 'cast',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: {
    to: { type: 'dtype' },
    saturate: { type: 'bool', default: true },
    round_mode: { type: 'string', default: 'up', oneOf: ['up', 'down', 'nearest'] },
  },
  output: (_, attributes) => target(attributes),
  scalar: {
    formula: ({ dtypes: [from = 'float32'], output }) =>
      isFloat(from) && SHORT_UNSIGNED.includes(output)
        ? f.convert(f.convert(f.X, 'i32'), 'output')
        : f.convert(f.X, 'output'),
  },
});
