import { RuntimeError, ShapeError } from '../../core/errors.ts';
import { describeStray, findStrayIndex } from '../../core/index-checks.ts';
import { dimsAttribute, intAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, type OpDefinition } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { operand } from '../operand-checks.ts';

/** No index: what `except` is where nothing is. */
const NOTHING = -(2 ** 53 - 1);

/** Indices as they are, once none of them is out of bounds. */
export const checkIndices: OpDefinition = defineOp({
  name: 'check_indices',
  kind: 'opaque',
  host: 'an index that is out of bounds stops the run',
  tolerance: EXACT,
  summary:
    'The indices, of which lower <= index < below or index = except holds for each; one bound for all, ' +
    'or one for each place along the last axis. Where it does not, the run stops with an error of `where`.',
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
    const last = shape.at(-1);
    const length = last === undefined ? undefined : dims.known(last);
    const fits = lower.length === 1 || lower.length === length;
    if (lower.length === below.length && fits) return { dtype, shape };
    throw new ShapeError({
      where: stringAttribute(attributes, 'where'),
      got: `${lower.length} and ${below.length} bounds`,
      expected: 'one of each, or as many as the last axis is long',
    });
  },
  reference(inputs, attributes, output) {
    const indices = operand(inputs, 0);
    const stray = findStrayIndex(indices.data, {
      lower: dimsAttribute(attributes, 'lower').map(Number),
      below: dimsAttribute(attributes, 'below').map(Number),
      except: intAttribute(attributes, 'except'),
    });
    if (stray !== undefined) {
      const where = stringAttribute(attributes, 'where');
      throw new RuntimeError({ where, ...describeStray(stray, indices.shape) });
    }
    output.bytes.set(indices.bytes);
  },
  cases: () => [
    {
      title: 'a vector',
      inputs: [{ dtype: 'int64', shape: [4], values: [0, 4, -5, 2] }],
      attributes: { lower: [-5], below: [5] },
    },
    {
      title: 'one that is allowed all the same',
      inputs: [{ dtype: 'int32', shape: [2, 2], values: [0, -100, 1, 2] }],
      attributes: { lower: [0], below: [3], except: -100, where: 'loss' },
    },
    {
      title: 'bounds of their own',
      inputs: [{ dtype: 'int64', shape: [2, 2], values: [0, 7, 1, -8] }],
      attributes: { lower: [0, -8], below: [2, 8] },
    },
    {
      title: 'a scalar',
      inputs: [{ dtype: 'int32', shape: [], values: [3] }],
      attributes: { lower: [0], below: [4] },
    },
    {
      title: 'none',
      inputs: [{ dtype: 'int32', shape: [0] }],
      attributes: { lower: [0], below: [0] },
    },
  ],
  badCases: () => [
    {
      title: 'floats',
      inputs: [{ dtype: 'float32', shape: [2] }],
      attributes: { lower: [0], below: [4] },
    },
    {
      title: 'three bounds for two places',
      inputs: [{ dtype: 'int32', shape: [2] }],
      attributes: { lower: [0, 0, 0], below: [1, 1, 1] },
    },
  ],
});
