import type { KernelSpec, LoweringCall } from '../lowering.ts';
import { attentionByRows } from './attention-by-rows.ts';
import { attentionByTiles } from './attention-by-tiles.ts';
import { cachedProblem } from './attention-problem.ts';
import { chooseAttentionTile } from './attention-variant.ts';

/** Kernels of `cached_attention`. */
export function lowerCachedAttention(call: LoweringCall): readonly KernelSpec[] {
  const problem = cachedProblem(call);
  const tile = chooseAttentionTile(problem, call.caps);
  return tile === undefined ? attentionByRows(problem) : attentionByTiles(problem, tile);
}
