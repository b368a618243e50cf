import type { Adjoint } from '../adjoint/adjoint.ts';
import type { AttentionName } from './attention-ops.ts';
import { linearAttentionAdjoint } from './linear-attention.adjoint.ts';
import { scaledDotProductAttentionAdjoint } from './scaled-dot-product-attention.adjoint.ts';

export const ATTENTION_ADJOINTS = {
  linear_attention: linearAttentionAdjoint,
  scaled_dot_product_attention: scaledDotProductAttentionAdjoint,
} satisfies Record<AttentionName, Adjoint>;
