import { batchNorm } from './batch-norm.ts';
import { ROW_NORM_OPS } from './row-norm.ts';
import { SOFTMAX_OPS } from './softmax.ts';

export const NORMALIZATION_OPS = [batchNorm, ...ROW_NORM_OPS, ...SOFTMAX_OPS] as const;

export type NormalizationName = (typeof NORMALIZATION_OPS)[number]['name'];
