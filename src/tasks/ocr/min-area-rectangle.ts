import type { Point, Rectangle } from '../../core/pictures/rectangle.ts';

/** The hull of points in order, without those on its edges (Andrew's monotone chain). */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = points.toSorted(([ax, ay], [bx, by]) => ax - bx || ay - by);
  if (sorted.length < 3) return sorted;
  const half = (from: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const point of from) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), point) <= 0) chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

function turn(a: Point = [0, 0], b: Point = [0, 0], c: Point = [0, 0]): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/**
 * The rectangle of the smallest area around points, which has a side on an edge of their hull (Freeman and Shapira 1975). Its width is
 * the direction that is nearer to that of rows.
 */
export function minAreaRectangle(points: readonly Point[]): Rectangle {
  const hull = convexHull(points);
  let best: Rectangle | undefined;
  for (const [i, [x, y]] of hull.entries()) {
    const [nextX, nextY] = hull[(i + 1) % hull.length] ?? [x, y];
    const length = Math.hypot(nextX - x, nextY - y);
    const along: Point = length === 0 ? [1, 0] : [(nextX - x) / length, (nextY - y) / length];
    const found = rectangleAround(hull, along);
    if (best === undefined || found.width * found.height < best.width * best.height) best = found;
  }
  return upright(best ?? { center: [0, 0], along: [1, 0], width: 0, height: 0 });
}

/** The rectangle around points whose width has a direction, of length 1. */
function rectangleAround(points: readonly Point[], along: Point): Rectangle {
  const [dx, dy] = along;
  const us = points.map(([x, y]) => x * dx + y * dy);
  const vs = points.map(([x, y]) => y * dx - x * dy);
  const [left, right] = [Math.min(...us), Math.max(...us)];
  const [top, bottom] = [Math.min(...vs), Math.max(...vs)];
  const [u, v] = [(left + right) / 2, (top + bottom) / 2];
  return {
    center: [u * dx - v * dy, u * dy + v * dx],
    along,
    width: right - left,
    height: bottom - top,
  };
}

/** The rectangle around rectangles, in the direction of the widest. */
export function joinedRectangle(rectangles: readonly Rectangle[]): Rectangle {
  const [first, ...others] = rectangles;
  if (first === undefined) throw new Error('internal: nothing to join');
  if (others.length === 0) return first;
  const widest = others.reduce((best, next) => (next.width > best.width ? next : best), first);
  return rectangleAround(rectangles.flatMap(cornersOf), widest.along);
}

function upright({ center, along: [dx, dy], width, height }: Rectangle): Rectangle {
  if (Math.abs(dx) >= Math.abs(dy)) {
    return { center, along: dx < 0 ? [-dx, -dy] : [dx, dy], width, height };
  }
  // A quarter of a turn, so that it goes to the right.
  const turned: Point = dy > 0 ? [dy, -dx] : [-dy, dx];
  return { center, along: turned, width: height, height: width };
}

/** Corners from the top left, clockwise. */
export function cornersOf({ center: [x, y], along: [dx, dy], width, height }: Rectangle): Point[] {
  const at = (u: number, v: number): Point => [x + u * dx - v * dy, y + u * dy + v * dx];
  const [w, h] = [width / 2, height / 2];
  return [at(-w, -h), at(w, -h), at(w, h), at(-w, h)];
}
