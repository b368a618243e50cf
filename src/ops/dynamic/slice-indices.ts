import { ShapeError } from '../../core/errors.ts';
import { stringAttribute } from '../attributes.ts';
import { operand } from '../operand-checks.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';
import { INTEGERS } from './integers.ts';

export const NAMES = ['starts', 'ends', 'axes', 'steps'] as const;

/** Which positions of one axis ONNX Slice takes: the indices of a gather along it. */
export const sliceIndices = defineDynamicOp({
  name: 'slice_indices',
  inputs: NAMES.map((name) => ({ name, dtypes: INTEGERS })),
  attributes: {
    axis: { type: 'int', minimum: 0 },
    dims: { type: 'dims' },
    where: { type: 'string', default: 'slice_indices' },
  },
  infer(inputs, attributes, dims) {
    for (const [i, name] of NAMES.entries()) {
      if (operand(inputs, i).shape.length === 1) continue;
      throw new ShapeError({
        where: stringAttribute(attributes, 'where'),
        got: `${name} of rank ${operand(inputs, i).shape.length}`,
        expected: 'a list',
      });
    }
    const none = dims.of(0);
    const [[count = none] = [], ...others] = NAMES.map((_, i) => operand(inputs, i).shape);
    for (const [length = none] of others) {
      dims.requireEqual(length, count, () => ({
        where: stringAttribute(attributes, 'where'),
        got: 'lists of different lengths',
        expected: 'a start, an end, a step and an axis for each',
      }));
    }
    return { dtype: 'int64', shape: [dims.unknown()] };
  },
});
