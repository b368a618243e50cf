import type { DimContext } from '../../core/dim-context.ts';
import type { Dim } from '../../core/dim.ts';
import type { Attributes, TensorTypeOf } from '../../core/primitive-function.ts';
import { normalizeAxis } from '../../core/shape.ts';
import { intAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import type { Operands } from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { COMPARED_DTYPES } from './compared-elements.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

const INPUTS = [{ name: 'x', dtypes: COMPARED_DTYPES }] as const;

const ATTRIBUTES: Readonly<Record<string, AttributeSpec>> = {
  axis: { type: 'int', default: 0 },
  sorted: { type: 'bool', default: true },
};

/** Gathered along the axis, these positions give the different slices. */
export const uniqueIndices = defineDynamicOp({
  name: 'unique_indices',
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  infer(inputs, attributes, dims) {
    axisOf(inputs, attributes);
    return { dtype: 'int64', shape: [dims.unknown()] };
  },
});

/** How many slices along the axis equal each different one. */
export const uniqueCounts = defineDynamicOp({
  name: 'unique_counts',
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  infer(inputs, attributes, dims) {
    axisOf(inputs, attributes);
    return { dtype: 'int64', shape: [dims.unknown()] };
  },
});

/** Which of the different slices each slice equals. Its size is known: that of the axis. */
export const uniqueInverse = defineOp({
  name: 'unique_inverse',
  kind: 'opaque',
  hostOnlyBecause: 'it compares all elements with each other, one after another',
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  infer: inferInverse,
  tolerance: EXACT,
});

function inferInverse<D extends Dim>(
  inputs: Operands<TensorTypeOf<D>>,
  attributes: Attributes,
  dims: DimContext<D>,
): TensorTypeOf<D> {
  const size = operand(inputs, 0).shape[axisOf(inputs, attributes)];
  return { dtype: 'int64', shape: [size ?? dims.of(1)] };
}

export function axisOf(
  inputs: Operands<{ readonly shape: readonly Dim[] }>,
  attributes: Attributes,
) {
  return normalizeAxis(intAttribute(attributes, 'axis'), operand(inputs, 0).shape.length, 'unique');
}
