import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { formatDim } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { axisAttribute, dimsAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { constant, equal, select, ZERO } from '../index-expression/build.ts';
import { operand, requireVector } from '../operand-checks.ts';
import { INDEX_DTYPES, placeExpression } from './integer-index.ts';

export const oneHotAxisOf = /* @__PURE__ */ axisAttribute('one_hot');

/** A new axis with one value at the index and another everywhere else. */
export const oneHot = defineOp({
  name: 'one_hot',
  kind: 'injective',
  inputs: [tensor('indices', INDEX_DTYPES), tensor('values', ALL_DTYPES)],
  attributes: {
    depth: { type: 'dims', minimum: 0, length: 1 },
    axis: { type: 'int', default: -1 },
  },
  infer(inputs, attributes, dims) {
    const { shape } = operand(inputs, 0);
    const values = operand(inputs, 1);
    const [depth] = dimsAttribute(attributes, 'depth');
    if (depth === undefined) throw new ShapeError({ got: 'no depth', expected: 'one' });
    const complaint = () => ({
      where: 'one_hot: input values',
      got: `shape (${values.shape.map(formatDim).join(', ')})`,
      expected: 'two values',
    });
    requireVector(values, dims.of(2), { dims, complaint });
    const axis = oneHotAxisOf(attributes, shape.length + 1);
    const size = dims.of(depth);
    return { dtype: values.dtype, shape: [...shape.slice(0, axis), size, ...shape.slice(axis)] };
  },
  indexMap: {
    sources({ attributes, output, coords, param, integer }) {
      const axis = oneHotAxisOf(attributes, coords.length);
      const index = integer(0, coords.toSpliced(axis, 1));
      const place = placeExpression(index, param(output.shape[axis] ?? 0, 'u32'));
      return [
        {
          input: 1,
          coords: [select(equal(place, coords[axis] ?? ZERO), constant(1, 'u32'), ZERO)],
        },
      ];
    },
  },
  tolerance: EXACT,
});
