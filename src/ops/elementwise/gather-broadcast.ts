import type { Shape } from '../../core/tensor/shape.ts';
import { rowMajorStrides } from '../../core/tensor/shape.ts';
import type { NumberArray } from '../define-op.ts';

/** Row-major elements and the shape that broadcasts to the output's. */
interface BroadcastOperand {
  readonly elements: NumberArray;
  readonly shape: Shape;
}

/**
 * Copies elements `start` to `start + target.length` of an operand, broadcast to `shape`, into
 * `target`.
 */
export function gatherBroadcast(
  { elements, shape: from }: BroadcastOperand,
  shape: Shape,
  start: number,
  target: NumberArray,
): void {
  const axes = mergeAxes(shape, broadcastStrides(from, shape));
  const outer = axes.slice(0, -1);
  const inner = axes.at(-1) ?? { size: 1, stride: 0 };
  let row = Math.floor(start / inner.size);
  let first = start - row * inner.size;
  let done = 0;
  while (done < target.length) {
    let offset = 0;
    let rest = row;
    for (let axis = outer.length - 1; axis >= 0; axis--) {
      const { size, stride } = outer[axis] ?? inner;
      offset += (rest % size) * stride;
      rest = Math.floor(rest / size);
    }
    const count = Math.min(inner.size - first, target.length - done);
    if (inner.stride === 0) {
      target.fill(elements[offset] ?? 0, done, done + count);
    } else {
      const begin = offset + first;
      for (let i = 0; i < count; i++) target[done + i] = elements[begin + i] ?? 0;
    }
    done += count;
    first = 0;
    row++;
  }
}

interface MergedAxis {
  readonly size: number;
  readonly stride: number;
}

/** Neighbouring axes that are all repeated, or all stepped through in order, become one. */
function mergeAxes(shape: Shape, strides: readonly number[]): MergedAxis[] {
  const merged: MergedAxis[] = [];
  for (const [axis, size] of shape.entries()) {
    const stride = strides[axis] ?? 0;
    const outer = merged.at(-1);
    if (size === 1) continue;
    if (outer !== undefined && outer.stride === stride * size) {
      merged[merged.length - 1] = { size: outer.size * size, stride };
    } else {
      merged.push({ size, stride });
    }
  }
  return merged;
}

/** Strides in elements of `from` along the axes of `shape`; 0 where it is broadcast. */
export function broadcastStrides(from: Shape, shape: Shape): number[] {
  const own = rowMajorStrides(from);
  const lead = shape.length - from.length;
  return shape.map((_, axis) =>
    axis < lead || from[axis - lead] === 1 ? 0 : (own[axis - lead] ?? 0),
  );
}
