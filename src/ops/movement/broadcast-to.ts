import { ALL_DTYPES } from '../../core/dtype.ts';
import { formatDim } from '../../core/dim.ts';
import { formatShape } from '../../core/shape.ts';
import { dimsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { min, ZERO } from '../index-expression/build.ts';
import { formatType, operand, requireBroadcastsTo } from '../operand-checks.ts';

/** Repetition along axes of size 1 and along new leading axes. */
export const broadcastTo = defineOp({
  name: 'broadcast_to',
  kind: 'injective',
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
  indexMap: {
    movesOnly: true,
    // The last coordinate of an axis is 0 where the axis is repeated, so that one expression holds
    // for sizes that are known only at run time.
    sources({ inputs, coords, param }) {
      const shape = inputs[0]?.shape ?? [];
      const lead = coords.length - shape.length;
      const from = shape.map((dim, axis) =>
        min(coords[lead + axis] ?? ZERO, param(Math.max(dim - 1, 0), 'u32')),
      );
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});
