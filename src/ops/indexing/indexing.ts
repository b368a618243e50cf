import { ALL_DTYPES } from '../../core/tensor/dtype.ts';
import { ShapeError } from '../../core/errors.ts';
import { boolAttribute, dimsAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { greaterEqual, lessEqual, sub, toSigned, ZERO } from '../index-expression/build.ts';
import { operand, requireMinimumRank, requireRank } from '../operand-checks.ts';
import { INDEX_DTYPES } from './integer-index.ts';

/** The upper or lower triangle of matrices, zeros elsewhere. */
export const trilu = defineOp({
  name: 'trilu',
  kind: 'injective',
  inputs: [tensor('x', ALL_DTYPES), tensor('k', INDEX_DTYPES)],
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

/** No index: what `except` is where nothing is. */
const NOTHING = -(2 ** 53 - 1);

/** Indices as they are, once none of them is out of bounds. */
export const checkIndices = defineOp({
  name: 'check_indices',
  kind: 'opaque',
  hostOnlyBecause: 'an index that is out of bounds stops the run',
  tolerance: EXACT,
  inputs: [tensor('indices', ['int32', 'int64'])],
  attributes: {
    lower: { type: 'dims' },
    below: { type: 'dims' },
    except: { type: 'int', default: NOTHING },
    where: { type: 'string', default: 'check_indices' },
  },
  infer(inputs, attributes, dims) {
    const { dtype, shape } = operand(inputs, 0);
    const [lower, below] = [dimsAttribute(attributes, 'lower'), dimsAttribute(attributes, 'below')];
    const complaint = () => ({
      where: stringAttribute(attributes, 'where'),
      got: `${lower.length} and ${below.length} bounds`,
      expected: 'one of each, or as many as the last axis is long',
    });
    if (lower.length !== below.length) throw new ShapeError(complaint());
    const last = shape.at(-1) ?? dims.of(1);
    if (lower.length !== 1) dims.requireEqual(last, dims.of(lower.length), complaint);
    return { dtype, shape };
  },
});
