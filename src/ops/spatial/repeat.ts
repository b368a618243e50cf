import { ALL_DTYPES } from '../../core/dtype.ts';
import { intsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { div } from '../index-expression/build.ts';
import { operand, requireLength } from '../operand-checks.ts';

/** Enlarging by whole numbers. */
export const repeat = defineOp({
  name: 'repeat',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { repeats: { type: 'ints', minimum: 1 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const repeats = intsAttribute(attributes, 'repeats');
    requireLength(repeats, shape.length, 'repeat: attribute repeats');
    return { dtype, shape: shape.map((dim, axis) => dims.mul(dim, repeats[axis] ?? 1)) };
  },
  indexMap: {
    movesOnly: true,
    sources({ attributes, coords, param }) {
      const repeats = intsAttribute(attributes, 'repeats');
      const from = coords.map((coord, axis) => {
        const count = repeats[axis] ?? 1;
        return count === 1 ? coord : div(coord, param(count, 'u32'));
      });
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});
