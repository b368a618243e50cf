import { conv2d } from '../convolution/conv2d.ts';
import { conv3d } from '../convolution/conv3d.ts';
import { WINDOW_ATTRIBUTES } from '../convolution/window.ts';
import { defineOp, type OpDefinition, tensor } from '../define-op.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { asAlike, BYTES } from './matmul-integer.ts';
import { requireZeroPoints, type ZeroPointed } from './zero-points.ts';

export const X: ZeroPointed = { input: 0, zero: 2, axis: 1 };
export const W: ZeroPointed = { input: 1, zero: 3, axis: 0 };

/** The exact convolution of bytes, as int32. */
export const convInteger = defineOp({
  name: 'conv_integer',
  kind: 'anchor',
  inputs: [
    tensor('x', BYTES),
    tensor('w', BYTES),
    tensor('x_zero_point', BYTES, { optional: true }),
    tensor('w_zero_point', BYTES, { optional: true }),
  ],
  attributes: { ...WINDOW_ATTRIBUTES, groups: { type: 'int', default: 1, minimum: 1 } },
  infer(inputs, attributes, dims) {
    for (const pair of [X, W]) requireZeroPoints(inputs, pair, { where: 'conv_integer', dims });
    const alike = asAlike(inputs.slice(0, 2));
    return { dtype: 'int32', shape: floating(inputs).infer(alike, attributes, dims).shape };
  },
  lower: 'core',
  tolerance: { rtol: 0, atol: 0 },
});

/** The operator on floats that has the same window. */
function floating(inputs: Operands<{ readonly shape: readonly unknown[] }>): OpDefinition {
  return operand(inputs, 0).shape.length === 5 ? conv3d : conv2d;
}
