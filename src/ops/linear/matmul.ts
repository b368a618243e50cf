import { ShapeError } from '../../core/errors.ts';
import { defineOp, tensor } from '../define-op.ts';
import { productLoads } from './product-loads.ts';
import { commonDType, formatType, operand } from '../operand-checks.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';

/** The matrix product as numpy has it, batch dimensions broadcast. */
export const matmul = defineOp({
  name: 'matmul',
  kind: 'anchor',
  inputs: [tensor('a', FLOATS), tensor('b', FLOATS)],
  attributes: {},
  infer(inputs, _, dims) {
    const a = operand(inputs, 0);
    const b = operand(inputs, 1);
    const depth = a.shape.at(-1);
    const inner = b.shape.at(b.shape.length === 1 ? -1 : -2);
    const complaint = () => ({
      where: 'matmul',
      got: `${formatType(a)} and ${formatType(b)}`,
      expected: 'rank 1 or more, and as many columns in a as rows in b',
    });
    if (depth === undefined || inner === undefined) throw new ShapeError(complaint());
    dims.requireEqual(depth, inner, complaint);
    const batch = dims.broadcast([a.shape.slice(0, -2), b.shape.slice(0, -2)], 'matmul: batch');
    const rows = a.shape.length === 1 ? [] : a.shape.slice(-2, -1);
    const columns = b.shape.length === 1 ? [] : b.shape.slice(-1);
    return { dtype: commonDType([a, b], 'matmul'), shape: [...batch, ...rows, ...columns] };
  },
  fusion: { loads: productLoads },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});
