import type { Expr } from '../../../../compiler/ir/expr.ts';
import { proveLess, proveLessEqual } from '../../../../core/dims/dim-algebra.ts';
import { type Dim, MAX_DIMENSION } from '../../../../core/dims/dim.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { wholeSlice } from './slice-along.ts';

/** Slice of any version: a view of the bounds where they are known, else a gather along each axis. */
export function importSlice(node: ImportNode): Expr {
  const isAttribute = node.opset < 10;
  if (!isAttribute && [1, 2, 3, 4].some((index) => node.isComputed(index))) {
    return sliceByIndices(node);
  }
  const x = node.input(0);
  const shape = node.shape(x);
  const starts = isAttribute ? node.attributes.ints('starts') : node.dimsInput(1, 'starts');
  const ends = isAttribute ? node.attributes.ints('ends') : node.dimsInput(2, 'ends');
  if (starts === undefined || ends === undefined) {
    throw node.malformed('no starts or ends', 'both');
  }
  const given = isAttribute ? node.attributes.ints('axes') : node.intsInput(3, 'axes');
  const steps = isAttribute ? undefined : node.intsInput(4, 'steps');
  const axes = (given ?? [...starts.keys()]).map((axis) =>
    normalizeAxis(axis, shape.length, node.where),
  );
  const all = wholeSlice(shape);
  for (const [i, axis] of axes.entries()) {
    const dim = shape[axis] ?? 0;
    const start = slicePosition(node, starts[i] ?? 0, dim);
    const end = slicePosition(node, ends[i] ?? MAX_DIMENSION, dim);
    if (start === undefined || end === undefined) return sliceByIndices(node);
    all.starts[axis] = start;
    all.ends[axis] = end;
    all.steps[axis] = steps?.[i] ?? 1;
  }
  return node.call('slice', [x], { ...all });
}

/**
 * ONNX writes "from the first" and "to the last" as the extremes of int64. Undefined for what may be
 * negative or not.
 */
function slicePosition(node: ImportNode, position: Dim, dim: Dim): Dim | undefined {
  if (typeof position === 'number') {
    const size = typeof dim === 'number' ? dim : MAX_DIMENSION;
    return Math.min(Math.max(position, -size - 1), size);
  }
  if (proveLessEqual(0, position)) return position;
  return proveLess(position, 0) ? node.dims.add(dim, position) : undefined;
}

/** Bounds that only the running program knows say which positions of each axis are taken. */
function sliceByIndices(node: ImportNode): Expr {
  const x = node.input(0);
  const dims = node.shape(x);
  const [starts, ends] = [1, 2].map((index) => node.tensor(node.input(index)));
  if (starts === undefined || ends === undefined) throw node.malformed('no bounds', 'some');
  const count = node.number(node.shape(starts)[0] ?? 1, 'the number of starts');
  const given = node.inputs[3] ?? node.int64s(Array.from({ length: count }, (_, i) => i));
  const steps = node.inputs[4] ?? node.int64s(new Array<number>(count).fill(1));
  const bounds = [starts, ends, node.tensor(given), node.tensor(steps)];
  const axes: readonly number[] =
    given.kind === 'constant'
      ? Array.from(given.value.data, (axis: number | bigint) =>
          normalizeAxis(Number(axis), dims.length, node.where),
        )
      : [...dims.keys()];
  return axes.reduce<Expr>((part, axis) => {
    const indices = node.call('slice_indices', bounds, { axis, dims, where: node.where });
    return node.call('gather', [part, indices], { axis });
  }, x);
}
