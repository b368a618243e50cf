import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { axisAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { commonDType, formatType, operand, requireVector } from '../operand-checks.ts';
import { INDEX_DTYPES } from './integer-index.ts';

export const axisOf = /* @__PURE__ */ axisAttribute('tensor_scatter');

/** A cache with new entries from a place of its own for each slice of the first axis. */
export const tensorScatter = defineOp({
  name: 'tensor_scatter',
  kind: 'anchor',
  inputs: [tensor('x', ALL_DTYPES), tensor('updates', ALL_DTYPES), tensor('begins', INDEX_DTYPES)],
  attributes: {
    axis: { type: 'int', default: -2 },
    circular: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const updates = operand(inputs, 1);
    const dtype = commonDType([x, updates], 'tensor_scatter');
    const axis = axisOf(attributes, x.shape.length);
    const complaint = () => ({
      where: 'tensor_scatter',
      got: `${formatType(updates)} at ${formatType(operand(inputs, 2))} for ${formatType(x)}`,
      expected: `updates no larger than x along axis ${axis} and equal elsewhere, one begin a slice`,
    });
    if (axis === 0 || updates.shape.length !== x.shape.length) throw new ShapeError(complaint());
    for (const [i, dim] of updates.shape.entries()) {
      const size = x.shape[i] ?? dim;
      if (i === axis) dims.requireAtMost(dim, size, complaint);
      else dims.requireEqual(dim, size, complaint);
    }
    requireVector(operand(inputs, 2), x.shape[0] ?? dims.of(0), { dims, complaint });
    return { dtype, shape: x.shape };
  },
  storage: { overwrites: 0 },
  lower: 'core',
  tolerance: EXACT,
});

/** Slices of the first axis have `rows` rows of steps along the axis, each of `run` elements. */
export function placesOf(shape: Shape, attributes: Attributes) {
  const axis = axisOf(attributes, shape.length);
  const run = elementCount(shape.slice(axis + 1));
  return { axis, run, rows: elementCount(shape.slice(1, axis)) };
}
