import type { Adjoint } from '../adjoint/adjoint.ts';
import { batchNormAdjoint } from './batch-norm.adjoint.ts';
import type { NormalizationName } from './normalization-ops.ts';
import { rowNormAdjoint } from './row-norm.adjoint.ts';
import { logSoftmaxAdjoint, softmaxAdjoint } from './softmax.adjoint.ts';

export const NORMALIZATION_ADJOINTS = {
  batch_norm: batchNormAdjoint,
  layer_norm: rowNormAdjoint(true),
  rms_norm: rowNormAdjoint(false),
  softmax: softmaxAdjoint,
  log_softmax: logSoftmaxAdjoint,
} satisfies Record<NormalizationName, Adjoint>;
