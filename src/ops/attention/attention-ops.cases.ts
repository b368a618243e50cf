import type { OpCases } from '../op-cases.ts';
import { cachedAttentionCases } from './cached-attention.cases.ts';
import { linearAttentionCases } from './linear-attention.cases.ts';
import { scaledDotProductAttentionCases } from './scaled-dot-product-attention.cases.ts';
import type { AttentionName } from './attention-ops.ts';

export const ATTENTION_CASES = {
  cached_attention: cachedAttentionCases,
  linear_attention: linearAttentionCases,
  scaled_dot_product_attention: scaledDotProductAttentionCases,
} satisfies Record<AttentionName, OpCases>;
