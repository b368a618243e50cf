import type { OpReference } from '../op-reference.ts';
import { batchNormReference } from './batch-norm.reference.ts';
import { ROW_NORM_REFERENCES } from './row-norm.reference.ts';
import { SOFTMAX_REFERENCES } from './softmax.reference.ts';
import type { NormalizationName } from './normalization-ops.ts';

export const NORMALIZATION_REFERENCES = {
  batch_norm: batchNormReference,
  ...ROW_NORM_REFERENCES,
  ...SOFTMAX_REFERENCES,
} satisfies Record<NormalizationName, OpReference>;
