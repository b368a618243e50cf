import { linearAttention } from './linear-attention.ts';
import { scaledDotProductAttention } from './scaled-dot-product-attention.ts';

export const ATTENTION_OPS = [linearAttention, scaledDotProductAttention] as const;

export type AttentionName = (typeof ATTENTION_OPS)[number]['name'];
