import { ShapeError } from '../../core/errors.ts';
import { ALL_DTYPES } from '../../core/dtype.ts';
import { intsAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { ZERO } from '../index-expression/build.ts';
import { operand, requireLength } from '../operand-checks.ts';

/** Axes in another order: axis `i` of the result is axis `perm[i]` of x. */
export const transpose = defineOp({
  name: 'transpose',
  kind: 'injective',
  inputs: [{ name: 'x', dtypes: ALL_DTYPES }],
  attributes: { perm: { type: 'ints', minimum: 0 } },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const perm = intsAttribute(attributes, 'perm');
    requireLength(perm, shape.length, 'transpose: attribute perm');
    if (new Set(perm).size !== perm.length || perm.some((axis) => axis >= perm.length)) {
      throw new ShapeError({
        where: 'transpose: attribute perm',
        got: `[${perm.join(', ')}]`,
        expected: `each of 0 to ${perm.length - 1} once`,
      });
    }
    return { dtype, shape: perm.map((axis) => shape[axis] ?? dims.of(1)) };
  },
  indexMap: {
    movesOnly: true,
    permutation: (attributes) => intsAttribute(attributes, 'perm'),
    sources({ attributes, coords }) {
      const perm = intsAttribute(attributes, 'perm');
      const from = perm.map((_, source) => coords[perm.indexOf(source)] ?? ZERO);
      return [{ input: 0, coords: from }];
    },
  },
  tolerance: EXACT,
});
