import type { AdjointRule } from '../adjoint/adjoint.ts';
import { axisOf } from './gather.ts';

/** Adds each slice of the cotangent to where it was read. */
export const gatherAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
  const [x, indices] = inputs;
  if (x === undefined || indices === undefined) return [];
  const axis = axisOf(attributes, x.shape.length);
  const count = indices.shape.length;
  const rank = cotangent.shape.length;
  const all = Array.from({ length: rank }, (_, i) => i);
  const chosen = all.slice(axis, axis + count);
  const others = [...all.slice(0, axis), ...all.slice(axis + count)];
  const updates = graph.transpose(cotangent, [...chosen, ...others]);
  const axes = Array.from({ length: x.shape.length }, (_, i) => i);
  const perm = [axis, ...axes.filter((i) => i !== axis)];
  const zeros = graph.full(
    perm.map((i) => x.shape[i] ?? 1),
    x.dtype,
  );
  const places = graph.reshape(indices, [...indices.shape, 1]);
  const sums = graph.call('scatter_nd', [zeros, places, updates], { reduction: 'add' });
  return [
    graph.transpose(
      sums,
      axes.map((i) => perm.indexOf(i)),
    ),
  ];
};
