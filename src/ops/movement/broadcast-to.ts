import { ALL_DTYPES } from '../../core/dtype.ts';
import { formatDim } from '../../core/dim.ts';
import { formatShape, rowMajorStrides } from '../../core/shape.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { broadcastStrides } from '../elementwise/elementwise-reference.ts';
import { elementBits } from '../elements.ts';
import { formatType, operand, requireBroadcastsTo } from '../operand-checks.ts';
import { copyStrided } from './strided-copy.ts';

/** Repetition along axes of size 1 and along new leading axes. */
export const broadcastTo: OpDefinition = defineOp({
  name: 'broadcast_to',
  kind: 'injective',
  summary: 'x repeated along axes of size 1 and along new leading axes.',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { shape: { type: 'dims', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const x = operand(inputs, 0);
    const shape = dimsAttribute(attributes, 'shape').map((dim) => dims.of(dim));
    requireBroadcastsTo(x, shape, {
      dims,
      complaint: () => ({
        where: 'broadcast_to: attribute shape',
        got: formatShape(shape.map(formatDim)),
        expected: `a shape that ${formatType(x)} broadcasts to`,
        remedy: 'Each dimension of x must be 1 or the one of the result, aligned from the right.',
      }),
    });
    return { dtype: x.dtype, shape };
  },
  reference(inputs, _, output) {
    const x = operand(inputs, 0);
    copyStrided(
      { elements: elementBits(x), offset: 0, strides: broadcastStrides(x.shape, output.shape) },
      { elements: elementBits(output), offset: 0, strides: rowMajorStrides(output.shape) },
      output.shape,
    );
  },
  indexMap: {
    movesOnly: true,
    // The last coordinate of an axis is 0 where the axis is repeated, so that one expression holds
    // for sizes that are known only at run time.
    sources({ inputs, coords, param }) {
      const shape = inputs[0]?.shape ?? [];
      const lead = coords.length - shape.length;
      const from = shape.map(
        (dim, axis) => `min(${coords[lead + axis] ?? '0u'}, ${param(Math.max(dim - 1, 0), 'u32')})`,
      );
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
  cases: () => [
    broadcastCase([], []),
    broadcastCase([], [3, 5]),
    broadcastCase([1], [0]),
    broadcastCase([4], [4]),
    broadcastCase([5, 1], [5, 7]),
    broadcastCase([3, 1, 4], [2, 3, 5, 4]),
    broadcastCase([1, 333], [129, 333]),
    { title: 'bool', inputs: [{ dtype: 'bool', shape: [3, 1] }], attributes: { shape: [3, 2] } },
  ],
  badCases: () => [broadcastCase([2, 3], [3]), broadcastCase([2, 3], [2, 4])],
});

function broadcastCase(from: readonly number[], shape: readonly number[]): OpCase {
  return {
    title: `(${from.join(', ')}) to (${shape.join(', ')})`,
    inputs: [{ dtype: 'float32', shape: from }],
    attributes: { shape },
  };
}
