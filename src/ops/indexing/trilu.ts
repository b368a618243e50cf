import { ALL_DTYPES } from '../../core/dtype.ts';
import { boolAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { greaterEqual, lessEqual, sub, toSigned, ZERO } from '../index-expression/build.ts';
import { operand, requireMinimumRank, requireRank } from '../operand-checks.ts';
import { INDEX_DTYPES } from './integer-index.ts';

/** The upper or lower triangle of matrices, zeros elsewhere. */
export const trilu = defineOp({
  name: 'trilu',
  kind: 'injective',
  inputs: [
    { name: 'x', dtypes: ALL_DTYPES },
    { name: 'k', dtypes: INDEX_DTYPES },
  ],
  attributes: { upper: { type: 'bool', default: true } },
  infer(inputs) {
    const x = operand(inputs, 0);
    requireMinimumRank(x, 2, 'trilu: input x');
    requireRank(operand(inputs, 1), 0, 'trilu: input k');
    return x;
  },
  indexMap: {
    sources({ attributes, coords, integer }) {
      const compare = boolAttribute(attributes, 'upper') ? greaterEqual : lessEqual;
      const above = sub(toSigned(coords.at(-1) ?? ZERO), toSigned(coords.at(-2) ?? ZERO));
      return [{ input: 0, coords, when: compare(above, integer(1, [])) }];
    },
  },
  tolerance: EXACT,
});
