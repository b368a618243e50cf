import type { Point, Rectangle } from '../../core/pictures/rectangle.ts';
import { minAreaRectangle } from './min-area-rectangle.ts';

/** For each pixel how likely it belongs to the middle of a line of text. */
export interface TextMap {
  readonly width: number;
  readonly height: number;
  /** Row by row, from 0 to 1. */
  readonly data: Float32Array | Float64Array;
}

/** What counts as text. */
export interface RegionOptions {
  /** Pixels from this likelihood on are text. */
  readonly threshold: number;
  /** Lines whose pixels are less likely on average are left out. */
  readonly boxThreshold: number;
  /** How far a line reaches beyond what the map has of it, of its area by its perimeter. */
  readonly unclip: number;
}

/** A line of text in pixels of the map. */
export interface TextRegion {
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

/** Of each set of pixels that touch, also by corners, the first and the last one of each row: its hull is that of all. */
function components({ width, height, data }: TextMap, threshold: number): Point[][] {
  const isSeen = new Uint8Array(width * height);
  const all: Point[][] = [];
  const stack: number[] = [];
  for (let start = 0; start < isSeen.length; start++) {
    if (isSeen[start] === 1 || !((data[start] ?? 0) > threshold)) continue;
    const ends = new Map<number, [first: number, last: number]>();
    isSeen[start] = 1;
    stack.push(start);
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const [x, y] = [at % width, Math.floor(at / width)];
      const row = ends.get(y);
      if (row === undefined) ends.set(y, [x, x]);
      else if (x < row[0]) row[0] = x;
      else if (x > row[1]) row[1] = x;
      for (let ny = Math.max(y - 1, 0); ny <= Math.min(y + 1, height - 1); ny++) {
        for (let nx = Math.max(x - 1, 0); nx <= Math.min(x + 1, width - 1); nx++) {
          const next = ny * width + nx;
          if (isSeen[next] === 1 || !((data[next] ?? 0) > threshold)) continue;
          isSeen[next] = 1;
          stack.push(next);
        }
      }
    }
    all.push(
      [...ends].flatMap(([y, [first, last]]): Point[] => [
        [first, y],
        [last, y],
      ]),
    );
  }
  return all;
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
