import type { AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { intAttribute } from '../attributes.ts';

/** Adds each slice of the cotangent to where it was read. */
export const gatherNdAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
  const [x, indices] = inputs;
  if (x === undefined || indices === undefined) return [];
  const places = withBatches(graph, indices, intAttribute(attributes, 'batch_dims'));
  const zeros = graph.full(x.shape, x.dtype);
  return [graph.call('scatter_nd', [zeros, places, cotangent], { reduction: 'add' })];
};

/** Tuples that begin with the coordinates of the axes that both inputs share. */
function withBatches(graph: GraphBuilder, indices: GraphTensor, batch: number): GraphTensor {
  if (batch === 0) return indices;
  const shape = indices.shape.with(indices.shape.length - 1, 1);
  const coordinates = shape.slice(0, batch).map((dim, axis) => {
    const along = shape.map((_, i) => (i === axis ? dim : 1));
    return graph.broadcastTo(graph.reshape(graph.count(dim), along), shape);
  });
  return graph.concat([...coordinates, graph.cast(indices, 'int64')], shape.length - 1);
}
