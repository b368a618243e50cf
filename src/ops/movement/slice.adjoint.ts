import { MAX_DIMENSION } from '../../core/dim.ts';
import type { AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
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
