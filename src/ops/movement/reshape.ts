import { ALL_DTYPES } from '../../core/dtype.ts';
import { countElements } from '../../core/dim-context.ts';
import { formatDim } from '../../core/dim.ts';
import { formatShape } from '../../core/shape.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { formatType, operand } from '../operand-checks.ts';

/** The same elements in the same order under another shape. Outside kernels a view. */
export const reshape = defineOp({
  name: 'reshape',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { shape: { type: 'dims', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const shape = dimsAttribute(attributes, 'shape').map((dim) => dims.of(dim));
    const count = countElements(shape, dims);
    const expected = countElements(x.shape, dims);
    dims.requireEqual(count, expected, () => ({
      where: 'reshape: attribute shape',
      got: `${formatShape(shape.map(formatDim))} of ${formatDim(count)} elements`,
      expected: `${formatDim(expected)} elements as in ${formatType(x)}`,
    }));
    return { dtype: x.dtype, shape };
  },
  indexMap: { movesOnly: true, keepsOrder: true },
  tolerance: EXACT,
});
