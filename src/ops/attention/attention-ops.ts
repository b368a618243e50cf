import { cachedAttention } from './cached-attention.ts';
import { linearAttention } from './linear-attention.ts';
import { scaledDotProductAttention } from './scaled-dot-product-attention.ts';

export const ATTENTION_OPS = [cachedAttention, linearAttention, scaledDotProductAttention] as const;

export type AttentionName = (typeof ATTENTION_OPS)[number]['name'];
