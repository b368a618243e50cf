import { normalizeAxis } from '../../core/tensor/shape.ts';
import { intAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { NUMERIC } from '../elementwise/number-dtypes.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { formatType, operand, requireElements } from '../operand-checks.ts';

export type Extreme = 'max' | 'min';

function defineArgReduce<const Name extends string>(name: Name) {
  return defineOp({
    name,
    kind: 'reduction',
    inputs: [{ name: 'x', dtypes: NUMERIC }],
    attributes: {
      axis: { type: 'int', default: 0 },
      select_last: { type: 'bool', default: false },
    },
    infer(inputs, attributes, dims) {
      const x = operand(inputs, 0);
      const given = intAttribute(attributes, 'axis');
      const axis = normalizeAxis(given, x.shape.length, `${name}: attribute axis`);
      const kept = x.shape.map((dim, at) => (at === axis ? dims.of(1) : dim));
      const sizes = { kept, reduced: x.shape.slice(axis, axis + 1) };
      requireElements(sizes, dims, () => ({
        where: name,
        got: formatType(x),
        expected: 'elements to choose from',
      }));
      return { dtype: 'int64', shape: kept };
    },
    fusion: { loads: () => 1 },
    lower: 'core',
    tolerance: EXACT,
  });
}

export const ARG_REDUCE_OPS = [defineArgReduce('arg_max'), defineArgReduce('arg_min')] as const;

export type ArgReduceName = (typeof ARG_REDUCE_OPS)[number]['name'];
