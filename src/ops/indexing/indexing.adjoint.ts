import type { AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { axisOf } from './tensor-scatter.ts';

/** Adds each element of the cotangent to where it was read. */
export const gatherElementsAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
  const [x, indices] = inputs;
  if (x === undefined || indices === undefined) return [];
  const zeros = graph.full(x.shape, x.dtype);
  const how = { ...attributes, reduction: 'add' };
  return [graph.call('scatter_elements', [zeros, indices, cotangent], how)];
};

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

/**
 * Elements that updates replace get no cotangent; the updates get that of the places where they
 * went.
 */
export const tensorScatterAdjoint: AdjointRule = ({
  inputs,
  attributes,
  cotangent,
  wants,
  graph,
}) => {
  const [x, updates, begins] = inputs;
  if (x === undefined || updates === undefined || begins === undefined) return [];
  const zeros = graph.full(updates.shape, updates.dtype);
  const kept = graph.call('tensor_scatter', [cotangent, zeros, begins], attributes);
  if (!wants(1)) return [kept];
  const axis = axisOf(attributes, x.shape.length);
  const along = updates.shape.map((dim, i) => (i === axis ? dim : 1));
  const each = updates.shape.map((dim, i) => (i === 0 ? dim : 1));
  const steps = graph.reshape(graph.count(updates.shape[axis] ?? 1), along);
  const places = graph.add(graph.reshape(graph.cast(begins, 'int64'), each), steps);
  const size = graph.size([x.shape[axis] ?? 1], 'int64');
  const limit = typeof size === 'number' ? graph.scalar(size, 'int64') : size;
  // A negative index would count from the end, and one at the end reads zero.
  const inside = boolAttribute(attributes, 'circular')
    ? graph.call('mod', [places, limit])
    : graph.where(graph.less(places, 0), limit, places);
  const all = graph.broadcastTo(inside, updates.shape);
  return [kept, graph.call('gather_elements', [cotangent, all], { axis })];
};

/** Sums of the cotangent where the index is not, and where it is. */
export const oneHotAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
  const [indices, values] = inputs;
  if (indices === undefined || values === undefined) return [];
  const hot = (off: number, on: number) => {
    const pair = graph.concat(
      [off, on].map((x) => graph.reshape(graph.scalar(x, values.dtype), [1])),
      0,
    );
    const mask = graph.call('one_hot', [indices, pair], attributes);
    const axes = mask.shape.map((_, axis) => axis);
    return graph.reshape(graph.sum(graph.mul(cotangent, mask), axes), [1]);
  };
  return [undefined, graph.concat([hot(1, 0), hot(0, 1)], 0)];
};

/** Reversed again, every element is where it was. */
export const reverseSequenceAdjoint: AdjointRule = ({
  inputs: [, lengths],
  attributes,
  cotangent,
  graph,
}) =>
  lengths === undefined ? [] : [graph.call('reverse_sequence', [cotangent, lengths], attributes)];

export const triluAdjoint: AdjointRule = ({ inputs: [, k], attributes, cotangent, graph }) =>
  k === undefined ? [] : [graph.call('trilu', [cotangent, k], attributes)];
