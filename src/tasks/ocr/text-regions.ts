import type { Point, Rectangle } from '../../core/pictures/rectangle.ts';

/** For each pixel how likely it belongs to the middle of a line of text. */
interface TextMap {
  readonly width: number;
  readonly height: number;
  /** The likelihoods, row by row, from 0 to 1. */
  readonly data: Float32Array | Float64Array;
}

/** Limits from which likely pixels are text, and count as a line. */
interface RegionOptions {
  /** Pixels from this likelihood on are text. */
  readonly threshold: number;
  /** Lines whose pixels are less likely on average are left out. */
  readonly boxThreshold: number;
  /** How far a line reaches beyond what the map has of it, of its area by its perimeter. */
  readonly unclip: number;
}

/** A line of text in pixels of the map. */
interface TextRegion {
  readonly rectangle: Rectangle;
  readonly score: number;
}

/** Lines that are lower than so many pixels of the map are noise. */
const LEAST_SIDE = 3;

/**
 * Lines of text in a map of differentiable binarisation (Liao et al. 2020), as PaddleOCR's `DBPostProcess` finds them: connected pixels,
 * the smallest rectangle around them, made larger by what training had made the text smaller.
 */
export function textRegions(map: TextMap, options: RegionOptions): TextRegion[] {
  const regions: TextRegion[] = [];
  for (const edge of components(map, options.threshold)) {
    const rectangle = minAreaRectangle(edge);
    const { width, height } = rectangle;
    if (Math.min(width, height) < LEAST_SIDE) continue;
    const score = meanInside(map, rectangle);
    if (score < options.boxThreshold) continue;
    const grow = (width * height * options.unclip) / (2 * (width + height));
    const grown = { ...rectangle, width: width + 2 * grow, height: height + 2 * grow };
    if (Math.min(grown.width, grown.height) < LEAST_SIDE + 2) continue;
    regions.push({ rectangle: grown, score });
  }
  return regions;
}

/** Pixels of one row that are text, side by side. */
interface Run {
  readonly y: number;
  readonly first: number;
  readonly last: number;
  /** Another run of its set, undefined for the one that stands for all of it. */
  parent?: Run;
}

/**
 * Of each set of pixels that touch, also by corners, the first and the last one of each row: its hull is that of all. Sets are found
 * by runs of pixels (Rosenfeld and Pfaltz 1966), of which there are far fewer.
 */
function components(map: TextMap, threshold: number): Point[][] {
  const runs = runsOf(map, threshold);
  // The first run of the row above that may touch.
  let above = 0;
  for (const [i, run] of runs.entries()) {
    const isBefore = ({ y, last }: Run): boolean =>
      y < run.y - 1 || (y === run.y - 1 && last < run.first - 1);
    for (let other = runs[above]; other && isBefore(other); other = runs[above]) above++;
    for (let k = above; k < i; k++) {
      const other = runs[k];
      if (other === undefined || other.y === run.y || other.first > run.last + 1) break;
      joinRuns(other, run);
    }
  }
  const sets = new Map<Run, Map<number, [first: number, last: number]>>();
  for (const run of runs) {
    const root = rootOf(run);
    const ends = sets.get(root) ?? new Map<number, [first: number, last: number]>();
    sets.set(root, ends);
    const row = ends.get(run.y);
    // Runs of a row come from the left.
    if (row === undefined) ends.set(run.y, [run.first, run.last]);
    else row[1] = run.last;
  }
  return [...sets.values()].map((ends) =>
    [...ends].flatMap(([y, [first, last]]): Point[] => [
      [first, y],
      [last, y],
    ]),
  );
}

function runsOf({ width, height, data }: TextMap, threshold: number): Run[] {
  const runs: Run[] = [];
  for (let y = 0; y < height; y++) {
    const row = y * width;
    for (let x = 0; x < width; x++) {
      if (!((data[row + x] ?? 0) > threshold)) continue;
      const first = x;
      while (x + 1 < width && (data[row + x + 1] ?? 0) > threshold) x++;
      runs.push({ y, first, last: x });
    }
  }
  return runs;
}

function rootOf(run: Run): Run {
  let root = run;
  while (root.parent !== undefined) {
    // Later searches are shorter.
    if (root.parent.parent !== undefined) root.parent = root.parent.parent;
    root = root.parent;
  }
  return root;
}

function joinRuns(a: Run, b: Run): void {
  const [root, other] = [rootOf(a), rootOf(b)];
  if (root !== other) other.parent = root;
}

/** How likely the pixels of a rectangle are on average. */
function meanInside(
  map: TextMap,
  { center: [cx, cy], along: [dx, dy], width, height }: Rectangle,
): number {
  const reach = [
    (Math.abs(dx) * width + Math.abs(dy) * height) / 2,
    (Math.abs(dy) * width + Math.abs(dx) * height) / 2,
  ] as const;
  const from = (middle: number, by: number): number => Math.max(Math.floor(middle - by), 0);
  const to = (middle: number, by: number, most: number): number =>
    Math.min(Math.ceil(middle + by), most - 1);
  let sum = 0;
  let count = 0;
  for (let y = from(cy, reach[1]); y <= to(cy, reach[1], map.height); y++) {
    for (let x = from(cx, reach[0]); x <= to(cx, reach[0], map.width); x++) {
      const u = (x - cx) * dx + (y - cy) * dy;
      const v = (y - cy) * dx - (x - cx) * dy;
      // Half a pixel more, so that pixels on the edge count.
      if (Math.abs(u) > width / 2 + 0.5 || Math.abs(v) > height / 2 + 0.5) continue;
      sum += map.data[y * map.width + x] ?? 0;
      count++;
    }
  }
  return count === 0 ? 0 : sum / count;
}

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
