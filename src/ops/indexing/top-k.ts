import { ShapeError } from '../../core/errors.ts';
import { axisAttribute, dimsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { NUMERIC } from '../elementwise/number-dtypes.ts';
import { formatType, operand } from '../operand-checks.ts';

export const topKAxisOf = /* @__PURE__ */ axisAttribute('top_k');

/** Where the k largest or smallest elements of each row are, in their order. */
export const topK = defineOp({
  name: 'top_k',
  kind: 'anchor',
  inputs: [{ name: 'x', dtypes: NUMERIC }],
  attributes: {
    k: { type: 'dims', minimum: 0, length: 1 },
    axis: { type: 'int', default: -1 },
    largest: { type: 'bool', default: true },
  },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const axis = topKAxisOf(attributes, x.shape.length);
    const [k] = dimsAttribute(attributes, 'k');
    const size = x.shape[axis];
    if (k === undefined || size === undefined) {
      throw new ShapeError({ where: 'top_k', got: formatType(x), expected: 'an axis and k' });
    }
    const count = dims.of(k);
    dims.requireAtMost(count, size, () => ({
      where: 'top_k: attribute k',
      got: `more than the elements along axis ${axis} of ${formatType(x)}`,
      expected: 'at most as many',
    }));
    return { dtype: 'int64', shape: x.shape.map((dim, i) => (i === axis ? count : dim)) };
  },
  lower: 'core',
  tolerance: EXACT,
});
