import shader from '../../../shaders/cumulative.wgsl?raw';
import { axisAttribute, boolAttribute, intAttribute } from '../attributes.ts';
import { type AttributeSpec, defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { operand } from '../operand-checks.ts';
import { combinationWgsl } from './reduction-wgsl.ts';
import { rowKernel } from './row-kernel.ts';

const OFF: AttributeSpec = { type: 'bool', default: false };

/** Running sums and products. */
export const cumulative = defineOp({
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
  lower: (call) => [
    rowKernel(call, {
      name: 'cumulative',
      source:
        combinationWgsl(
          boolAttribute(call.attributes, 'product') ? 'prod' : 'sum',
          call.output.dtype,
        ) + shader,
      axis: intAttribute(call.attributes, 'axis'),
      meetsOnce: false,
      constants: {
        IS_EXCLUSIVE: boolAttribute(call.attributes, 'exclusive'),
        IS_REVERSE: boolAttribute(call.attributes, 'reverse'),
      },
    }),
  ],
  tolerance: { rtol: 1e-4, atol: 1e-4 },
});
