import { operand } from '../operand-checks.ts';
import { COMPARED_DTYPES } from './compared-elements.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

/** Where elements are not zero: a column of coordinates for each, in row-major order. */
export const nonzero = defineDynamicOp({
  name: 'nonzero',
  inputs: [{ name: 'x', dtypes: COMPARED_DTYPES }],
  attributes: {},
  infer: (inputs, _, dims) => ({
    dtype: 'int64',
    shape: [dims.of(operand(inputs, 0).shape.length), dims.unknown()],
  }),
});
