import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { attentionByProducts } from './attention-by-products.ts';
import { attentionByTiles } from './attention-by-tiles.ts';
import { attentionProblem } from './attention-problem.ts';
import { type AttentionChoice, chooseAttentionTile } from './attention-variant.ts';

/** Kernels of `scaled_dot_product_attention`: one and a second for parts, or three. */
export function lowerAttention(call: LoweringCall): readonly KernelSpec[] {
  const problem = attentionProblem(call);
  const { caps } = call;
  const first: AttentionChoice = { tile: chooseAttentionTile(problem, caps) };
  const { tile } = caps.choices?.pick('attention', { first, problem, caps }) ?? first;
  return tile === undefined ? attentionByProducts(problem) : attentionByTiles(problem, tile);
}
