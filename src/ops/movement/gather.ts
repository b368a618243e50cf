import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import { normalizeAxis } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { less } from '../index-expression/build.ts';
import { INDEX_DTYPES, placeExpression } from '../indexing/integer-index.ts';
import { operand } from '../operand-checks.ts';

/** Slices of a table, chosen by a tensor of indices along one axis. */
export const gather = defineOp({
  name: 'gather',
  kind: 'injective',
  inputs: [tensor('x', ALL_DTYPES), tensor('indices', INDEX_DTYPES)],
  attributes: { axis: { type: 'int', default: 0 } },
  infer(inputs, attributes) {
    const { dtype, shape } = operand(inputs, 0);
    const indices = operand(inputs, 1).shape;
    const axis = axisOf(attributes, shape.length);
    return { dtype, shape: [...shape.slice(0, axis), ...indices, ...shape.slice(axis + 1)] };
  },
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const shape = inputs[0]?.shape ?? [];
      const rank = inputs[1]?.shape.length ?? 0;
      const axis = axisOf(attributes, shape.length);
      const size = param(shape[axis] ?? 0, 'u32');
      const index = integer(1, coords.slice(axis, axis + rank));
      const place = placeExpression(index, size);
      const from = coords.toSpliced(axis, rank, place);
      return [{ input: 0, coords: from, when: less(place, size) }];
    },
  },
  tolerance: EXACT,
});

export function axisOf(attributes: Attributes, rank: number): number {
  return normalizeAxis(intAttribute(attributes, 'axis'), rank, 'gather');
}
