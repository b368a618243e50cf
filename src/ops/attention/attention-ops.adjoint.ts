import type { Adjoint } from '../adjoint/adjoint.ts';
import type { AttentionName } from './attention-ops.ts';
import { cachedAttentionAdjoint } from './cached-attention.adjoint.ts';
import { linearAttentionAdjoint } from './linear-attention.adjoint.ts';
import { scaledDotProductAttentionAdjoint } from './scaled-dot-product-attention.adjoint.ts';

export const ATTENTION_ADJOINTS = {
  cached_attention: cachedAttentionAdjoint,
  linear_attention: linearAttentionAdjoint,
  scaled_dot_product_attention: scaledDotProductAttentionAdjoint,
} satisfies Record<AttentionName, Adjoint>;
