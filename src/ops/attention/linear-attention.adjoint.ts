import { byExpansion } from '../adjoint/by-expansion.ts';
import type { ExpandedCall } from '../adjoint/adjoint.ts';
import { stepCount } from '../adjoint/step-count.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { linearAttentionHalving } from './linear-attention.halving.ts';
import { sizesOf } from './linear-attention.ts';

/** Its steps, one after the other, where the number of positions is known. */
export const linearAttentionAdjoint = byExpansion(written, { halving: linearAttentionHalving });

function written({ inputs, output, attributes, graph }: ExpandedCall): GraphTensor {
  const [query, key, value, initial, gate, erase] = inputs;
  if (query === undefined || key === undefined || value === undefined || initial === undefined) {
    return output;
  }
  const { dims } = graph;
  const sizes = sizesOf(inputs, attributes, dims);
  const { batch, positions, heads, kvHeads, keySize, valueSize } = sizes;
  const group = heads / kvHeads;
  const parts = (of: GraphTensor, shape: GraphTensor['shape']): GraphTensor =>
    graph.reshape(of, [batch, positions, kvHeads, ...shape]);
  const at = (of: GraphTensor | undefined, t: number, shape: GraphTensor['shape']) =>
    of && graph.at(parts(of, shape), 1, t);
  let state = initial;
  const results: GraphTensor[] = [];
  for (let t = 0; t < stepCount(positions, 'linear_attention'); t++) {
    const kept = at(gate, t, [keySize, 1]);
    if (kept !== undefined) state = graph.mul(state, kept);
    const erased = at(erase, t, [1, keySize]);
    let added = at(value, t, [1, valueSize]) ?? state;
    if (erased !== undefined) added = graph.sub(added, graph.matmul(erased, state));
    state = graph.add(state, graph.mul(at(key, t, [keySize, 1]) ?? state, added));
    const asked = at(query, t, [group, keySize]) ?? state;
    const row = graph.matmul(asked, state);
    results.push(graph.reshape(row, [batch, 1, dims.mul(valueSize, heads)]));
  }
  const count = (of: GraphTensor): GraphTensor['shape'][number] =>
    of.shape.reduce((product, dim) => dims.mul(product, dim), 1);
  const flat = (of: GraphTensor): GraphTensor => graph.reshape(of, [count(of)]);
  return results.length === 0
    ? flat(state)
    : graph.concat([flat(graph.concat(results, 1)), flat(state)], 0);
}
