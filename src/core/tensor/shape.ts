import { formatShape } from './element-count.ts';
import { ShapeError } from '../errors.ts';

// Apart, because the page has use for no more.
export { elementCount, formatShape } from './element-count.ts';

/** A concrete shape: non-negative integers, outermost dimension first. Rank 0 is a scalar. */
export type Shape = readonly number[];

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}

/** Row-major strides in elements. */
export function rowMajorStrides(shape: Shape): number[] {
  const strides = new Array<number>(shape.length);
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis] ?? 1;
  }
  return strides;
}

/** Numpy broadcasting of several shapes. Throws ShapeError when two dimensions disagree. */
export function broadcastShapes(shapes: readonly Shape[], where: string): number[] {
  const rank = Math.max(0, ...shapes.map((shape) => shape.length));
  const result = new Array<number>(rank).fill(1);
  for (const shape of shapes) {
    for (let i = 0; i < shape.length; i++) {
      const axis = rank - shape.length + i;
      const dim = shape[i] ?? 1;
      const known = result[axis] ?? 1;
      if (dim === 1 || dim === known) continue;
      if (known !== 1) {
        throw new ShapeError({
          where,
          got: shapes.map(formatShape).join(' and '),
          expected: `shapes that broadcast (dimension ${axis - rank} is ${known} and ${dim})`,
          remedy: 'Dimensions must be equal or 1, aligned from the right.',
        });
      }
      result[axis] = dim;
    }
  }
  return result;
}

/** Turns a possibly negative axis into 0..rank-1. Throws ShapeError outside. */
export function normalizeAxis(axis: number, rank: number, where: string): number {
  if (!Number.isInteger(axis) || axis < -rank || axis >= rank) {
    throw new ShapeError({
      where,
      got: `axis ${axis}`,
      expected: rank === 0 ? 'no axis (a scalar has none)' : `an axis from ${-rank} to ${rank - 1}`,
    });
  }
  return axis < 0 ? axis + rank : axis;
}
