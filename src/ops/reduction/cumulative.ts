import { axisAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp } from '../define-op.ts';
import { operand } from '../operand-checks.ts';
import { SUMMED_DTYPES } from './reduce.ts';

const OFF: AttributeSpec = { type: 'bool', default: false };

/** Running sums and products. */
export const cumulative = defineOp({
  name: 'cumulative',
  kind: 'reduction',
  inputs: [{ name: 'x', dtypes: SUMMED_DTYPES }],
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
