import { ShapeError } from '../../core/errors.ts';
import { dimsAttribute, stringAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { operand } from '../operand-checks.ts';

/** No index: what `except` is where nothing is. */
const NOTHING = -(2 ** 53 - 1);

/** Indices as they are, once none of them is out of bounds. */
export const checkIndices = defineOp({
  name: 'check_indices',
  kind: 'opaque',
  hostOnlyBecause: 'an index that is out of bounds stops the run',
  tolerance: EXACT,
  inputs: [{ name: 'indices', dtypes: ['int32', 'int64'] }],
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
