import type { OpDefinition } from '../define-op.ts';
import { batchNorm } from './batch-norm.ts';
import { layerNorm } from './layer-norm.ts';
import { SOFTMAX_OPS } from './softmax.ts';

export const NORMALIZATION_OPS: readonly OpDefinition[] = [batchNorm, layerNorm, ...SOFTMAX_OPS];
