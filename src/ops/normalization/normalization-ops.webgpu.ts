import type { Lowering } from '../lowering.ts';
import { lowerBatchNorm } from './batch-norm-lowering.ts';
import type { NormalizationName } from './normalization-ops.ts';
import { lowerRowNorm } from './row-norm-lowering.ts';
import { lowerSoftmax } from './softmax-lowering.ts';

export const NORMALIZATION_WEBGPU = {
  batch_norm: lowerBatchNorm,
  layer_norm: (call) => lowerRowNorm(call, true),
  rms_norm: (call) => lowerRowNorm(call, false),
  softmax: lowerSoftmax(false),
  log_softmax: lowerSoftmax(true),
} satisfies Record<NormalizationName, Lowering>;
