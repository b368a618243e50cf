import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { formatType, operand, requireMinimumRank } from '../operand-checks.ts';

/** Determinants, by elimination with the largest pivot of a column. */
export const det = defineOp({
  name: 'det',
  kind: 'anchor',
  inputs: [{ name: 'x', dtypes: FLOATS }],
  attributes: {},
  infer(inputs, _, dims) {
    const x = operand(inputs, 0);
    requireMinimumRank(x, 2, 'det');
    const [rows = dims.of(0), columns = dims.of(0)] = x.shape.slice(-2);
    dims.requireEqual(rows, columns, () => ({
      where: 'det',
      got: formatType(x),
      expected: 'square matrices',
    }));
    return { dtype: x.dtype, shape: x.shape.slice(0, -2) };
  },
  lower: 'core',
  tolerance: { rtol: 1e-3, atol: 1e-4 },
});
