import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { axisAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { less } from '../index-expression/build.ts';
import { formatType, operand, requireRank } from '../operand-checks.ts';
import { INDEX_DTYPES, placeExpression } from './integer-index.ts';

export const gatherAxisOf = /* @__PURE__ */ axisAttribute('gather_elements');

/** One element of x per index: that index replaces the coordinate of an axis. */
export const gatherElements = defineOp({
  name: 'gather_elements',
  kind: 'injective',
  inputs: [tensor('x', ALL_DTYPES), tensor('indices', INDEX_DTYPES)],
  attributes: { axis: { type: 'int', default: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const indices = operand(inputs, 1);
    const axis = gatherAxisOf(attributes, x.shape.length);
    requireRank(indices, x.shape.length, 'gather_elements: input indices');
    const complaint = () => ({
      where: 'gather_elements',
      got: `${formatType(indices)} for ${formatType(x)}`,
      expected: `indices no larger than x but along axis ${axis}`,
    });
    for (const [i, dim] of indices.shape.entries()) {
      if (i !== axis) dims.requireAtMost(dim, x.shape[i] ?? dim, complaint);
    }
    return { dtype: x.dtype, shape: indices.shape };
  },
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const axis = gatherAxisOf(attributes, coords.length);
      const size = param(inputs[0]?.shape[axis] ?? 0, 'u32');
      const place = placeExpression(integer(1, coords), size);
      return [{ input: 0, coords: coords.with(axis, place), when: less(place, size) }];
    },
  },
  tolerance: EXACT,
});
