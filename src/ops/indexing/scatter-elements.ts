import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { axisAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { commonDType, formatType, operand } from '../operand-checks.ts';
import { INDEX_DTYPES } from './integer-index.ts';
import { REDUCTION_ATTRIBUTE, requireReducible } from './scatter-reduction.ts';

export const scatterAxisOf = /* @__PURE__ */ axisAttribute('scatter_elements');

/** Elements of x replaced, or combined with updates, at places along one axis. */
export const scatterElements = defineOp({
  name: 'scatter_elements',
  kind: 'anchor',
  inputs: [tensor('x', ALL_DTYPES), tensor('indices', INDEX_DTYPES), tensor('updates', ALL_DTYPES)],
  attributes: { axis: { type: 'int', default: 0 }, reduction: REDUCTION_ATTRIBUTE },
  infer(inputs, attributes, dims) {
    const [x, indices, updates] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    const dtype = commonDType([x, updates], 'scatter_elements');
    requireReducible(dtype, stringAttribute(attributes, 'reduction'), 'scatter_elements');
    const axis = scatterAxisOf(attributes, x.shape.length);
    const complaint = () => ({
      where: 'scatter_elements',
      got: `${formatType(updates)} at ${formatType(indices)} for ${formatType(x)}`,
      expected: `updates like indices, and no larger than x but along axis ${axis}`,
    });
    const rank = x.shape.length;
    if (indices.shape.length !== rank || updates.shape.length !== rank) {
      throw new ShapeError(complaint());
    }
    for (const [i, dim] of indices.shape.entries()) {
      dims.requireEqual(dim, updates.shape[i] ?? dim, complaint);
      if (i !== axis) dims.requireAtMost(dim, x.shape[i] ?? dim, complaint);
    }
    return { dtype, shape: x.shape };
  },
  storage: { overwrites: 0 },
  lower: 'core',
  tolerance: { rtol: 1e-6, atol: 1e-6 },
});
