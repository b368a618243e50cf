import type { GraphTensor } from '../adjoint/graph-target.ts';
import type { Halving } from '../adjoint/adjoint.ts';
import { sizesOf } from './linear-attention.ts';

/** The second call begins with the state that the first ends with. */
export const linearAttentionHalving: Halving = {
  axes: [1, 1, 1, undefined, 1, 1],
  halves({ inputs, output, attributes, graph }, { first, run }) {
    const { dims } = graph;
    const { batch, positions, heads, valueSize } = sizesOf(inputs, attributes, dims);
    const given = inputs[3];
    if (given === undefined) return output;
    const width = dims.mul(valueSize, heads);
    const results: GraphTensor[] = [];
    let state = given;
    for (const part of [
      { range: { to: first }, count: first },
      { range: { from: first }, count: dims.sub(positions, first) },
    ]) {
      const own = inputs.map((input, i) =>
        i === 3 ? state : graph.sliceAxis(input, 1, part.range),
      );
      const result = run(own);
      const length = dims.mul(dims.mul(batch, part.count), width);
      const rows = graph.sliceAxis(result, 0, { to: length });
      results.push(graph.reshape(rows, [batch, part.count, width]));
      state = graph.reshape(graph.sliceAxis(result, 0, { from: length }), given.shape);
    }
    const count = (shape: GraphTensor['shape']): GraphTensor['shape'][number] =>
      shape.reduce((product, dim) => dims.mul(product, dim), 1);
    const rows = graph.reshape(graph.concat(results, 1), [count([batch, positions, width])]);
    return graph.concat([rows, graph.reshape(state, [count(given.shape)])], 0);
  },
};
