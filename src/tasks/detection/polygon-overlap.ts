import type { Point } from '../../core/pictures/rectangle.ts';

/**
 * The area that two convex polygons share, of the area that both cover together. Corners go around in the same direction. One is cut by
 * each edge of the other (Sutherland and Hodgman 1974).
 */
export function polygonOverlap(a: readonly Point[], b: readonly Point[]): number {
  const direction = Math.sign(areaOf(b));
  let shared = a;
  for (const [i, from] of b.entries()) {
    const to = b[(i + 1) % b.length] ?? from;
    shared = cutBy(shared, (point) => direction * sideOf(from, to, point));
  }
  const common = Math.abs(areaOf(shared));
  const all = Math.abs(areaOf(a)) + Math.abs(areaOf(b)) - common;
  return all > 0 ? common / all : 0;
}

/** Above 0 on one side of a line. */
function sideOf([fromX, fromY]: Point, [toX, toY]: Point, [x, y]: Point): number {
  return (toX - fromX) * (y - fromY) - (toY - fromY) * (x - fromX);
}

/** The part of a polygon where a linear function is not below 0. */
function cutBy(polygon: readonly Point[], depth: (point: Point) => number): Point[] {
  return polygon.flatMap((point, i) => {
    const next = polygon[(i + 1) % polygon.length] ?? point;
    const [here, there] = [depth(point), depth(next)];
    const own = here >= 0 ? [point] : [];
    if (here >= 0 === there >= 0) return own;
    const share = here / (here - there);
    const crossing: Point = [
      point[0] + (next[0] - point[0]) * share,
      point[1] + (next[1] - point[1]) * share,
    ];
    return [...own, crossing];
  });
}

/** The area of a polygon; its sign says in which direction the corners go around. */
function areaOf(polygon: readonly Point[]): number {
  const twice = polygon.reduce((sum, [x, y], i) => {
    const [nextX, nextY] = polygon[(i + 1) % polygon.length] ?? [x, y];
    return sum + x * nextY - y * nextX;
  }, 0);
  return twice / 2;
}
