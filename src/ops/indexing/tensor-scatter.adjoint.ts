import type { AdjointRule } from '../adjoint/adjoint.ts';
import { boolAttribute } from '../attributes.ts';
import { axisOf } from './tensor-scatter.ts';

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
