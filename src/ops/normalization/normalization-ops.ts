import type { OpDefinition } from '../define-op.ts';
import { batchNorm } from './batch-norm.ts';
import { ROW_NORM_OPS } from './row-norm.ts';
import { SOFTMAX_OPS } from './softmax.ts';

export const NORMALIZATION_OPS: readonly OpDefinition[] = [
  batchNorm,
  ...ROW_NORM_OPS,
  ...SOFTMAX_OPS,
];
