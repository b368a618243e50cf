import type { Dim } from '../../core/dims/dim.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { normalizeAxis } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import type { Operands } from '../lowering/lowering.ts';
import { operand } from '../operand-checks.ts';
import { COMPARED_DTYPES } from './compared-elements.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';

const INPUTS = [{ name: 'x', dtypes: COMPARED_DTYPES }] as const;

const ATTRIBUTES: Readonly<Record<string, AttributeSpec>> = {
  axis: { type: 'int', default: 0 },
  sorted: { type: 'bool', default: true },
};

const defineGroups = <const Name extends string>(name: Name) =>
  defineDynamicOp({
    name,
    inputs: INPUTS,
    attributes: ATTRIBUTES,
    infer(inputs, attributes, dims) {
      axisOf(inputs, attributes);
      return { dtype: 'int64', shape: [dims.unknown()] };
    },
  });

/** Gathered along the axis, these positions give the different slices. */
export const uniqueIndices = defineGroups('unique_indices');

/** How many slices along the axis equal each different one. */
export const uniqueCounts = defineGroups('unique_counts');

/** Which of the different slices each slice equals. Its size is known: that of the axis. */
export const uniqueInverse = defineOp({
  name: 'unique_inverse',
  kind: 'opaque',
  hostOnlyBecause: 'it compares all elements with each other, one after another',
  inputs: INPUTS,
  attributes: ATTRIBUTES,
  infer(inputs, attributes, dims) {
    const size = operand(inputs, 0).shape[axisOf(inputs, attributes)];
    return { dtype: 'int64', shape: [size ?? dims.of(1)] };
  },
  tolerance: EXACT,
});

export function axisOf(
  inputs: Operands<{ readonly shape: readonly Dim[] }>,
  attributes: Attributes,
) {
  return normalizeAxis(intAttribute(attributes, 'axis'), operand(inputs, 0).shape.length, 'unique');
}
