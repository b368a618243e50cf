import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { ShapeError, UnsupportedError } from '../../core/errors.ts';
import type { TensorTypeOf } from '../../core/contracts/primitive-function.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { all, constant, less } from '../index-expression/build.ts';
import type { IndexExpression } from '../index-expression/expression.ts';
import { formatType, operand, requireMinimumRank } from '../operand-checks.ts';
import { INDEX_DTYPES, placeExpression } from './integer-index.ts';

/** Slices of x at tuples of indices, after leading axes that both inputs share. */
export const gatherNd = defineOp({
  name: 'gather_nd',
  kind: 'injective',
  inputs: [tensor('x', ALL_DTYPES), tensor('indices', INDEX_DTYPES)],
  attributes: { batch_dims: { type: 'int', default: 0, minimum: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const indices = operand(inputs, 1);
    const batch = intAttribute(attributes, 'batch_dims');
    const complaint = () => ({
      where: 'gather_nd',
      got: `${formatType(indices)} for ${formatType(x)}`,
      expected: `tuples for the axes of x after ${batch} that both have`,
    });
    requireMinimumRank(indices, batch + 1, 'gather_nd: input indices');
    const length = tupleLength(indices, (dim) => dims.known(dim), 'gather_nd');
    if (batch + length > x.shape.length) throw new ShapeError(complaint());
    const shape = indices.shape.slice(0, -1).map((dim, axis) => {
      return axis < batch ? dims.requireEqual(dim, x.shape[axis] ?? dim, complaint) : dim;
    });
    return { dtype: x.dtype, shape: [...shape, ...x.shape.slice(batch + length)] };
  },
  indexMap: {
    sources({ attributes, inputs, coords, param, integer }) {
      const shape = inputs[0]?.shape ?? [];
      const batch = intAttribute(attributes, 'batch_dims');
      const outer = (inputs[1]?.shape.length ?? 1) - 1;
      const length = inputs[1]?.shape[outer] ?? 0;
      const tuple = coords.slice(0, outer);
      const conditions: IndexExpression<'bool'>[] = [];
      const places = shape.slice(batch, batch + length).map((dim, k) => {
        const size = param(dim, 'u32');
        const place = placeExpression(integer(1, [...tuple, constant(k, 'u32')]), size);
        conditions.push(less(place, size));
        return place;
      });
      const from = [...coords.slice(0, batch), ...places, ...coords.slice(outer)];
      return [{ input: 0, coords: from, when: all(conditions) }];
    },
  },
  tolerance: EXACT,
});

/** How many indices one tuple has: the last dimension, which decides ranks and so must be a number. */
export function tupleLength<D extends Dim>(
  indices: TensorTypeOf<D>,
  known: (dim: D) => number | undefined,
  where: string,
): number {
  const last = indices.shape.at(-1);
  const length = last === undefined ? undefined : known(last);
  if (length !== undefined) return length;
  const isScalar = last === undefined;
  const complaint = {
    where: `${where}: input indices`,
    got: isScalar ? formatType(indices) : `tuples of ${formatDim(last)} indices`,
    expected: 'a last dimension that is a number',
  };
  throw isScalar ? new ShapeError(complaint) : new UnsupportedError(complaint);
}
