import { defineOp } from '../define-op.ts';
import { operand, requireMinimumRank } from '../operand-checks.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';

function defineRowNorm<const Name extends string>(name: Name) {
  return defineOp({
    name,
    kind: 'reduction',
    inputs: [{ name: 'x', dtypes: FLOATS }],
    attributes: { epsilon: { type: 'float', default: 1e-5 } },
    infer(inputs) {
      const x = operand(inputs, 0);
      requireMinimumRank(x, 1, name);
      return { dtype: x.dtype, shape: x.shape };
    },
    fusion: { loads: () => 2 },
    lower: 'core',
    tolerance: { rtol: 1e-4, atol: 1e-5 },
  });
}

/** Rows without their mean, in units of their deviation; scale and shift are operators behind it. */
const layerNorm = defineRowNorm('layer_norm');

const rmsNorm = defineRowNorm('rms_norm');

export const ROW_NORM_OPS = [layerNorm, rmsNorm] as const;

export type RowNormName = (typeof ROW_NORM_OPS)[number]['name'];
