import type { Shape } from '../core/shape.ts';
import { rowMajorStrides } from '../core/shape.ts';
import type { NumberArray, ScalarContext, ScalarFunction } from './define-op.ts';

/** Row-major elements and the shape that broadcasts to the output's. */
export interface BroadcastOperand {
  readonly elements: NumberArray;
  readonly shape: Shape;
}

/**
 * Applies a scalar function to whole arrays of equal length. The output may be one of the operands.
 */
export function applyScalar(
  scalar: ScalarFunction,
  operands: readonly NumberArray[],
  output: NumberArray,
  context: ScalarContext,
): void {
  if (scalar.hostBlock !== undefined) {
    scalar.hostBlock(operands, output, context);
    return;
  }
  const values = operands.map(() => 0);
  for (let i = 0; i < output.length; i++) {
    for (let j = 0; j < operands.length; j++) values[j] = operands[j]?.[i] ?? 0;
    output[i] = scalar.host(values, context);
  }
}

/**
 * Copies elements `start` to `start + target.length` of an operand, broadcast to `shape`, into
 * `target`. An operand of the same shape or with one element takes a fast path.
 */
export function gatherBroadcast(
  { elements, shape: from }: BroadcastOperand,
  shape: Shape,
  start: number,
  target: NumberArray,
): void {
  const strides = broadcastStrides(from, shape);
  const rank = shape.length;
  const inner = shape[rank - 1] ?? 1;
  const innerStride = strides[rank - 1] ?? 0;
  const coords = coordinates(start, shape);
  let done = 0;
  while (done < target.length) {
    let offset = 0;
    for (let axis = 0; axis < rank - 1; axis++) {
      offset += (coords[axis] ?? 0) * (strides[axis] ?? 0);
    }
    const first = coords[rank - 1] ?? 0;
    const count = Math.min(inner - first, target.length - done);
    if (innerStride === 0) {
      target.fill(elements[offset] ?? 0, done, done + count);
    } else {
      const begin = offset + first;
      for (let i = 0; i < count; i++) target[done + i] = elements[begin + i] ?? 0;
    }
    done += count;
    advanceRow(coords, shape);
  }
}

function advanceRow(coords: number[], shape: Shape): void {
  const last = shape.length - 1;
  if (last >= 0) coords[last] = 0;
  for (let axis = last - 1; axis >= 0; axis--) {
    const next = (coords[axis] ?? 0) + 1;
    coords[axis] = next;
    if (next < (shape[axis] ?? 1)) return;
    coords[axis] = 0;
  }
}

function coordinates(index: number, shape: Shape): number[] {
  let rest = index;
  return rowMajorStrides(shape).map((stride) => {
    const coord = stride === 0 ? 0 : Math.floor(rest / stride);
    rest -= coord * stride;
    return coord;
  });
}

/** Strides in elements of `from` along the axes of `shape`; 0 where it is broadcast. */
export function broadcastStrides(from: Shape, shape: Shape): number[] {
  const own = rowMajorStrides(from);
  const lead = shape.length - from.length;
  return shape.map((_, axis) =>
    axis < lead || from[axis - lead] === 1 ? 0 : (own[axis - lead] ?? 0),
  );
}
