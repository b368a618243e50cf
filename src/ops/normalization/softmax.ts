import { axisAttribute } from '../attributes.ts';
import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { operand } from '../operand-checks.ts';

function defineSoftmax<const Name extends string>(name: Name, isLog: boolean) {
  return defineOp({
    name,
    kind: 'reduction',
    inputs: [{ name: 'x', dtypes: FLOATS }],
    attributes: { axis: { type: 'int', default: -1 } },
    infer(inputs, attributes) {
      const { dtype, shape } = operand(inputs, 0);
      axisAttribute(name)(attributes, shape.length);
      return { dtype, shape };
    },
    fusion: { loads: () => 2 },
    lower: 'core',
    tolerance: isLog ? { rtol: 1e-5, atol: 1e-5 } : { rtol: 1e-4, atol: 1e-6 },
  });
}

export const SOFTMAX_OPS = [
  defineSoftmax('softmax', false),
  defineSoftmax('log_softmax', true),
] as const;

export type SoftmaxName = (typeof SOFTMAX_OPS)[number]['name'];
