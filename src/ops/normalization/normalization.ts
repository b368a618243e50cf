import { formatDim } from '../../core/dims/dim.ts';
import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { formatType, operand, requireMinimumRank, requireVector } from '../operand-checks.ts';

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

const STATISTICS = ['scale', 'bias', 'mean', 'var'] as const;

/** Batch normalisation with given statistics, along axis 1. */
export const batchNorm = defineOp({
  name: 'batch_norm',
  kind: 'anchor',
  inputs: ['x', ...STATISTICS].map((name) => ({ name, dtypes: FLOATS })),
  attributes: { epsilon: { type: 'float', default: 1e-5, minimum: 0 } },
  infer(inputs, _, dims) {
    const x = operand(inputs, 0);
    requireMinimumRank(x, 2, 'batch_norm: input x');
    const channels = x.shape[1] ?? dims.of(0);
    for (const [i, name] of STATISTICS.entries()) {
      const type = operand(inputs, i + 1);
      requireVector(type, channels, {
        dims,
        complaint: () => ({
          where: `batch_norm: input ${name}`,
          got: formatType(type),
          expected: `(${formatDim(channels)},) for x of ${formatType(x)}`,
        }),
      });
    }
    return { dtype: x.dtype, shape: x.shape };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-5 },
});
