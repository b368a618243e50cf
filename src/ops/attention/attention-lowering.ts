import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { attentionByProducts } from './attention-by-products.ts';
import { attentionByTiles } from './attention-by-tiles.ts';
import { attentionProblem } from './attention-problem.ts';
import { chooseAttentionTile } from './attention-variant.ts';

/** Kernels of `scaled_dot_product_attention`: one and a second for parts, or three. */
export function lowerAttention(call: LoweringCall): readonly KernelSpec[] {
  const problem = attentionProblem(call);
  const tile = chooseAttentionTile(problem, call.caps);
  return tile === undefined ? attentionByProducts(problem) : attentionByTiles(problem, tile);
}
