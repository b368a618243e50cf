import type { OpReference } from '../op-reference.ts';
import { cachedAttentionReference } from './cached-attention.reference.ts';
import { linearAttentionReference } from './linear-attention.reference.ts';
import { scaledDotProductAttentionReference } from './scaled-dot-product-attention.reference.ts';
import type { AttentionName } from './attention-ops.ts';

export const ATTENTION_REFERENCES = {
  cached_attention: cachedAttentionReference,
  linear_attention: linearAttentionReference,
  scaled_dot_product_attention: scaledDotProductAttentionReference,
} satisfies Record<AttentionName, OpReference>;
