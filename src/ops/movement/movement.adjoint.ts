import { MAX_DIMENSION } from '../../core/dims/dim.ts';
import type { AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { dimsAttribute, intsAttribute, stringAttribute } from '../attributes.ts';
import { concatAxisOf } from './concat.ts';
import { axisOf } from './gather.ts';
import { sliceAxes } from './slice.ts';

/** Puts zeros around the cotangent, and between its elements where the slice skips some. */
export const sliceAdjoint: AdjointRule = ({ inputs: [x], attributes, cotangent, graph }) => {
  if (x === undefined) return [];
  const { dims } = graph;
  const before: ReturnType<typeof dims.of>[] = [];
  const after: ReturnType<typeof dims.of>[] = [];
  let spread = cotangent;
  for (const [axis, { start, step, count }] of sliceAxes(x.shape, attributes, dims).entries()) {
    const width = Math.abs(step);
    if (step < 0) spread = reverse(graph, spread, axis);
    if (width > 1) spread = interleave(graph, spread, { axis, width });
    const first = step < 0 ? dims.sub(start, dims.mul(dims.sub(count, 1), width)) : start;
    before.push(first);
    after.push(dims.sub(dims.sub(x.shape[axis] ?? 1, first), dims.mul(count, width)));
  }
  const pads = [...before, ...after];
  return [pads.every((dim) => dim === 0) ? spread : graph.call('pad', [spread], { pads })];
};

/** Elements along an axis from the last to the first. */
function reverse(graph: GraphBuilder, x: GraphTensor, axis: number): GraphTensor {
  const along = <T>(chosen: T, other: T) => x.shape.map((_, i) => (i === axis ? chosen : other));
  return graph.call('slice', [x], {
    starts: along(-1, 0),
    ends: along(-MAX_DIMENSION, MAX_DIMENSION),
    steps: along(-1, 1),
  });
}

/** Zeros after each element along an axis. */
function interleave(
  graph: GraphBuilder,
  x: GraphTensor,
  { axis, width }: { readonly axis: number; readonly width: number },
): GraphTensor {
  const column = graph.reshape(x, x.shape.toSpliced(axis + 1, 0, 1));
  const pads = [...column.shape, ...column.shape].map((_, i) =>
    i === column.shape.length + axis + 1 ? width - 1 : 0,
  );
  const filled = graph.call('pad', [column], { pads });
  const size = graph.dims.mul(x.shape[axis] ?? 1, width);
  return graph.reshape(filled, x.shape.with(axis, size));
}

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

/** Takes away what was added, and adds zeros for what was taken away. */
const constantAdjoint: AdjointRule = ({ attributes, cotangent, graph }) => {
  const pads = dimsAttribute(attributes, 'pads').map((dim) =>
    graph.dims.sub(0, graph.dims.of(dim)),
  );
  return [graph.call('pad', [cotangent], { pads })];
};

/** One axis after the other, elements chosen by indices that are padded in the same way. */
const choosingAdjoint = byExpansion(({ inputs: [x], output, attributes, graph }) => {
  if (x === undefined) return output;
  const pads = dimsAttribute(attributes, 'pads');
  const mode = stringAttribute(attributes, 'mode');
  let result = x;
  for (const [axis, dim] of x.shape.entries()) {
    const around = [pads[axis] ?? 0, pads[axis + x.shape.length] ?? 0];
    if (around.every((count) => count === 0)) continue;
    const places = graph.call('pad', [graph.count(dim)], { pads: around, mode });
    result = graph.call('gather', [result, places], { axis });
  }
  return result;
});

export const padAdjoint: AdjointRule = (call) =>
  (stringAttribute(call.attributes, 'mode') === 'constant' ? constantAdjoint : choosingAdjoint)(
    call,
  );

export const transposeAdjoint: AdjointRule = ({ attributes, cotangent, graph }) => {
  const perm = intsAttribute(attributes, 'perm');
  const back = perm.map((_, axis) => perm.indexOf(axis));
  return [graph.transpose(cotangent, back)];
};

export const reshapeAdjoint: AdjointRule = ({ inputs: [x], cotangent, graph }) => [
  x && graph.reshape(cotangent, x.shape),
];

export const broadcastAdjoint: AdjointRule = ({ inputs: [x], cotangent, graph }) => [
  x && graph.sumTo(cotangent, x.shape),
];

export const concatAdjoint: AdjointRule = ({ inputs, attributes, cotangent, wants, graph }) => {
  const axis = concatAxisOf(attributes, cotangent.shape.length);
  let from = graph.dims.of(0);
  return inputs.map(({ shape }, input) => {
    const start = from;
    from = graph.dims.add(start, shape[axis] ?? 1);
    return wants(input) ? graph.sliceAxis(cotangent, axis, { from: start, to: from }) : undefined;
  });
};

export const tileAdjoint: AdjointRule = ({ inputs: [x], attributes, cotangent, graph }) => {
  if (x === undefined) return [];
  const repeats = dimsAttribute(attributes, 'repeats');
  const split = x.shape.flatMap((dim, axis) => [repeats[axis] ?? 1, dim]);
  const copies = graph.reshape(cotangent, split);
  const sums = graph.sum(
    copies,
    x.shape.map((_, axis) => 2 * axis),
  );
  return [graph.reshape(sums, x.shape)];
};
