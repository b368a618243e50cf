import { axisAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { operand } from '../operand-checks.ts';
import { ARG_REDUCE_OPS } from './arg-reduce.ts';
import { REDUCE_OPS } from './reduce.ts';

const OFF: AttributeSpec = { type: 'bool', default: false };

/** Running sums and products. */
const cumulative = defineOp({
  name: 'cumulative',
  kind: 'reduction',
  inputs: [{ name: 'x', dtypes: [...FLOATS, 'int32', 'uint32', 'int64', 'uint64'] }],
  attributes: {
    axis: { type: 'int', default: 0 },
    product: OFF,
    exclusive: OFF,
    reverse: OFF,
  },
  infer(inputs, attributes) {
    const { dtype, shape } = operand(inputs, 0);
    axisAttribute('cumulative')(attributes, shape.length);
    return { dtype, shape };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});

export const REDUCTION_OPS = [...REDUCE_OPS, ...ARG_REDUCE_OPS, cumulative] as const;

export type ReductionName = (typeof REDUCTION_OPS)[number]['name'];
