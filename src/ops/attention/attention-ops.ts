import type { OpDefinition } from '../define-op.ts';
import { linearAttention } from './linear-attention.ts';
import { scaledDotProductAttention } from './scaled-dot-product-attention.ts';

export const ATTENTION_OPS: readonly OpDefinition[] = [linearAttention, scaledDotProductAttention];
