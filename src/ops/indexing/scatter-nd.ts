import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { stringAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { commonDType, formatType, operand } from '../operand-checks.ts';
import { tupleLength } from './gather-nd.ts';
import { INDEX_DTYPES } from './integer-index.ts';
import { REDUCTION_ATTRIBUTE, requireReducible } from './scatter-reduction.ts';

/** Slices of x replaced, or combined with updates, at tuples of indices. */
export const scatterNd = defineOp({
  name: 'scatter_nd',
  kind: 'anchor',
  inputs: [tensor('x', ALL_DTYPES), tensor('indices', INDEX_DTYPES), tensor('updates', ALL_DTYPES)],
  attributes: { reduction: REDUCTION_ATTRIBUTE },
  infer(inputs, attributes, dims) {
    const [x, indices, updates] = [operand(inputs, 0), operand(inputs, 1), operand(inputs, 2)];
    const dtype = commonDType([x, updates], 'scatter_nd');
    requireReducible(dtype, stringAttribute(attributes, 'reduction'), 'scatter_nd');
    const length = tupleLength(indices, (dim) => dims.known(dim), 'scatter_nd');
    const expected = [...indices.shape.slice(0, -1), ...x.shape.slice(length)];
    const complaint = () => ({
      where: 'scatter_nd',
      got: `${formatType(updates)} at ${formatType(indices)} for ${formatType(x)}`,
      expected: 'a slice of x for each tuple of indices',
    });
    if (length > x.shape.length || expected.length !== updates.shape.length) {
      throw new ShapeError(complaint());
    }
    for (const [i, dim] of updates.shape.entries()) {
      dims.requireEqual(dim, expected[i] ?? dim, complaint);
    }
    return { dtype, shape: x.shape };
  },
  storage: { overwrites: 0 },
  lower: 'core',
  tolerance: { rtol: 1e-6, atol: 1e-6 },
});

interface Tuples {
  readonly sizes: Shape;
  readonly count: number;
  readonly run: number;
}

export function tuplesOf(shape: Shape, indices: Shape): Tuples {
  const length = indices.at(-1) ?? 0;
  return {
    sizes: shape.slice(0, length),
    count: elementCount(indices.slice(0, -1)),
    run: elementCount(shape.slice(length)),
  };
}
