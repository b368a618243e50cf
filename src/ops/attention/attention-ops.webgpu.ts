import type { Lowering } from '../lowering.ts';
import { lowerAttention } from './attention-lowering.ts';
import type { AttentionName } from './attention-ops.ts';
import { lowerCachedAttention } from './cached-attention-lowering.ts';
import { lowerLinearAttention } from './linear-attention-lowering.ts';

export const ATTENTION_WEBGPU = {
  cached_attention: lowerCachedAttention,
  linear_attention: lowerLinearAttention,
  scaled_dot_product_attention: lowerAttention,
} satisfies Record<AttentionName, Lowering>;
