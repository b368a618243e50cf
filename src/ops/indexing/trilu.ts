import { ALL_DTYPES } from '../../core/dtype.ts';
import { boolAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
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
      const compare = boolAttribute(attributes, 'upper') ? '>=' : '<=';
      const above = `i32(${coords.at(-1) ?? '0u'}) - i32(${coords.at(-2) ?? '0u'})`;
      return [{ input: 0, coords, when: `(${above}) ${compare} ${integer(1, [])}` }];
    },
  },
  tolerance: EXACT,
});
