import source from '../../../shaders/linear-attention.wgsl?raw';
import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import {
  invocationGrid,
  perInvocation,
  readInputs,
  storeOutput,
} from '../lowering/element-kernel.ts';
import { type KernelSpec, type LoweringCall, MAX_LOOP_ROUNDS, u32 } from '../lowering/lowering.ts';
import { attentionByProducts } from './attention-by-products.ts';
import { attentionByRows } from './attention-by-rows.ts';
import { attentionByTiles } from './attention-by-tiles.ts';
import { attentionProblem, cachedProblem } from './attention-problem.ts';
import { type AttentionChoice, chooseAttentionTile } from './attention-variant.ts';
import { INPUTS, sizesOf } from './linear-attention.ts';

/** Kernels of `cached_attention`. */
export function lowerCachedAttention(call: LoweringCall): readonly KernelSpec[] {
  const problem = cachedProblem(call);
  const tile = chooseAttentionTile(problem, call.caps);
  return tile === undefined ? attentionByRows(problem) : attentionByTiles(problem, tile);
}

/** Kernels of `linear_attention`, each of so many steps as one may take. */
export function lowerLinearAttention(call: LoweringCall): readonly KernelSpec[] {
  const { inputs, attributes, caps } = call;
  const sizes = sizesOf(inputs, attributes, CONCRETE_DIMS);
  const { batch, positions, heads, kvHeads, keySize, valueSize } = sizes;
  const count = batch * kvHeads * valueSize;
  const grid = invocationGrid(count, caps);
  const byteLength = Math.max(4, count * keySize * 4);
  const state = { kind: 'scratch', index: 0, byteLength } as const;
  const rounds = keySize * (2 + heads / kvHeads) + heads / kvHeads + 1;
  const step = Math.max(1, Math.floor((MAX_LOOP_ROUNDS - 2 * keySize) / rounds));
  return Array.from({ length: Math.max(1, Math.ceil(positions / step)) }, (_, i) => {
    return {
      ...grid,
      name: 'linear-attention',
      source: perInvocation(source),
      constants: { HAS_GATE: inputs[4] !== undefined, HAS_ERASE: inputs[5] !== undefined },
      params: {
        ...grid.params,
        positions: u32(positions),
        begin: u32(i * step),
        end: u32(Math.min((i + 1) * step, positions)),
        kv_heads: u32(kvHeads),
        group_size: u32(heads / kvHeads),
        key_size: u32(keySize),
        value_size: u32(valueSize),
        outputs: u32(batch * positions * heads * valueSize),
      },
      reads: [...readInputs(...INPUTS), { hook: 'state', from: state, width: 1 }],
      writes: [...storeOutput(), { hook: 'state', to: state, width: 1 }],
    };
  });
}

/** Kernels of `scaled_dot_product_attention`: one and a second for parts, or three. */
export function lowerAttention(call: LoweringCall): readonly KernelSpec[] {
  const problem = attentionProblem(call);
  const { caps } = call;
  const first: AttentionChoice = { tile: chooseAttentionTile(problem, caps) };
  const { tile } = caps.choices?.pick('attention', { first, problem, caps }) ?? first;
  return tile === undefined ? attentionByProducts(problem) : attentionByTiles(problem, tile);
}
