import type { OpCases } from '../op-cases.ts';
import { batchNormCases } from './batch-norm.cases.ts';
import { ROW_NORM_CASES } from './row-norm.cases.ts';
import { SOFTMAX_CASES } from './softmax.cases.ts';
import type { NormalizationName } from './normalization-ops.ts';

export const NORMALIZATION_CASES = {
  batch_norm: batchNormCases,
  ...ROW_NORM_CASES,
  ...SOFTMAX_CASES,
} satisfies Record<NormalizationName, OpCases>;
