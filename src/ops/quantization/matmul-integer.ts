import type { TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { conv2d, conv3d } from '../convolution/conv2d.ts';
import { WINDOW_ATTRIBUTES } from '../convolution/window.ts';
import { defineOp, tensor, type OpDefinition } from '../define-op.ts';
import { matmul } from '../linear/matmul.ts';
import type { Operands } from '../lowering/lowering.ts';
import { operand } from '../operand-checks.ts';
import { requireZeroPoints, type ZeroPointed } from './zero-points.ts';

const BYTES: readonly DType[] = ['uint8', 'int8'];

export const A: ZeroPointed = { input: 0, zero: 2, axis: -2 };
export const B: ZeroPointed = { input: 1, zero: 3, axis: -1 };

/** The exact product of matrices of bytes, as int32. */
export const matmulInteger = defineOp({
  name: 'matmul_integer',
  kind: 'anchor',
  inputs: [
    tensor('a', BYTES),
    tensor('b', BYTES),
    tensor('a_zero_point', BYTES, { optional: true }),
    tensor('b_zero_point', BYTES, { optional: true }),
  ],
  attributes: {},
  infer(inputs, attributes, dims) {
    for (const pair of [A, B]) requireZeroPoints(inputs, pair, { where: 'matmul_integer', dims });
    const { shape } = matmul.infer(asAlike(inputs.slice(0, 2)), attributes, dims);
    return { dtype: 'int32', shape };
  },
  lower: 'core',
  tolerance: { rtol: 0, atol: 0 },
});

/** The types with the first one's dtype, for the shape rules of floats, which want one dtype. */
function asAlike<D extends Dim>(types: Operands<TensorTypeOf<D>>): Operands<TensorTypeOf<D>> {
  const { dtype } = operand(types, 0);
  return types.map((type) => type && { ...type, dtype });
}

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
