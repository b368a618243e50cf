import { seededRandom } from '../../../src/core/random.ts';
import type { Box, Pixels } from '../../../src/tasks/index.ts';
import type { DrawnText, Receipt } from './draw-receipts.ts';

type Point = readonly [x: number, y: number];
type Corners = readonly [topLeft: Point, topRight: Point, bottomRight: Point, bottomLeft: Point];

/** How a receipt lies before the camera. */
export interface Pose {
  readonly name: string;
  /** Where the corners of the paper are in the photograph, as shares of its width and height, from the paper's top left one clockwise. */
  readonly corners: Corners;
}

/** Lying askew, seen from one side and from below, upside down, and by a camera held sideways. */
export const POSES: readonly Pose[] = [
  {
    name: 'askew by 6 degrees',
    corners: corners([0.18, 0.08], [0.92, 0.138], [0.85, 0.93], [0.11, 0.872]),
  },
  {
    name: 'askew by 12 degrees to the left',
    corners: corners([0.06, 0.24], [0.76, 0.13], [0.93, 0.82], [0.23, 0.93]),
  },
  {
    name: 'from the side',
    corners: corners([0.07, 0.05], [0.93, 0.13], [0.91, 0.84], [0.09, 0.95]),
  },
  {
    name: 'from below',
    corners: corners([0.16, 0.09], [0.86, 0.07], [0.97, 0.95], [0.04, 0.93]),
  },
  {
    name: 'upside down',
    corners: corners([0.93, 0.9], [0.08, 0.94], [0.1, 0.08], [0.9, 0.05]),
  },
  {
    name: 'by a camera held sideways',
    corners: corners([0.92, 0.06], [0.94, 0.93], [0.07, 0.95], [0.05, 0.08]),
  },
];

function corners(...all: Corners): Corners {
  return all;
}

/** Pixels of a photograph for each pixel of the paper, about. */
const SCALE = 2;
/** Of the longer side of the paper, so much is around it. */
const MARGIN = 1.25;

/**
 * A receipt as a camera sees it: paper on wood, lit from one side, with a shadow over a corner, out of focus by a pixel or so, and noise.
 * Texts lie in the upright boxes around where they are seen.
 */
export function photograph(receipt: Receipt, pose: Pose): Receipt {
  const { picture, texts, size } = receipt;
  const side = Math.round(Math.max(picture.width, picture.height) * SCALE * MARGIN);
  const toPhoto = homography(picture, scaled(pose.corners, side));
  const lit = light(picture, inverse(toPhoto), side);
  const seen = texts.map(({ text, box }): DrawnText => ({ text, box: boxAround(box, toPhoto) }));
  return {
    name: `${receipt.name}, photographed ${pose.name}`,
    size,
    picture: blurred({ width: side, height: side, data: lit }),
    texts: seen,
  };
}

const scaled = (all: Corners, side: number): Point[] => all.map(([x, y]) => [x * side, y * side]);

/** A projective map of the plane: the eight numbers of its matrix, the ninth is 1. */
type Projection = readonly number[];

function project(map: Projection, x: number, y: number): Point {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 1] = map;
  const by = g * x + h * y + i;
  return [(a * x + b * y + c) / by, (d * x + e * y + f) / by];
}

/** The map of a rectangle's corners, from the top left clockwise, to four points. */
function homography(
  { width, height }: { readonly width: number; readonly height: number },
  to: readonly Point[],
): Projection {
  const from: Point[] = [
    [0, 0],
    [width, 0],
    [width, height],
    [0, height],
  ];
  const rows = from.flatMap(([x, y], i) => {
    const [u, v] = to[i] ?? [0, 0];
    return [
      [x, y, 1, 0, 0, 0, -u * x, -u * y, u],
      [0, 0, 0, x, y, 1, -v * x, -v * y, v],
    ];
  });
  return [...solve(rows), 1];
}

/** Solves linear equations, each a row with the right side last, by elimination with pivots. */
function solve(rows: readonly (readonly number[])[]): number[] {
  const left = rows.map((row) => [...row]);
  const count = left.length;
  for (let column = 0; column < count; column++) {
    const below = left.slice(column).map((row) => Math.abs(row[column] ?? 0));
    const pivot = column + below.indexOf(Math.max(...below));
    const [row = [], other = []] = [left[pivot], left[column]];
    [left[column], left[pivot]] = [row, other];
    for (const [i, each] of left.entries()) {
      if (i === column) continue;
      const factor = (each[column] ?? 0) / (row[column] ?? 1);
      left[i] = each.map((value, k) => value - factor * (row[k] ?? 0));
    }
  }
  return left.map((row, i) => (row[count] ?? 0) / (row[i] ?? 1));
}

/** The map back, but for a factor. */
function inverse([
  a = 0,
  b = 0,
  c = 0,
  d = 0,
  e = 0,
  f = 0,
  g = 0,
  h = 0,
  i = 1,
]: Projection): Projection {
  return [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ];
}

function light(paper: Pixels, toPaper: Projection, side: number): Uint8Array {
  const random = seededRandom(5);
  const out = new Uint8Array(side * side * 4);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const [u, v] = project(toPaper, x, y);
      const isPaper = u >= 0 && v >= 0 && u < paper.width && v < paper.height;
      // From 1 at the top left to 0.6 at the bottom right, and a shadow with a soft edge over the top right corner.
      const shadow = 0.75 + 0.25 / (1 + Math.exp(-(y - x + 0.45 * side) / (0.03 * side)));
      const brightness = (1 - (0.4 * (x + y)) / (2 * side)) * shadow;
      const at = (y * side + x) * 4;
      for (let c = 0; c < 3; c++) {
        const own = isPaper ? sample(paper, u, v, c) * (PAPER[c] ?? 1) : wood(x, y, c, side);
        out[at + c] = Math.min(Math.max(own * brightness + 14 * (random() - 0.5), 0), 255);
      }
      out[at + 3] = 255;
    }
  }
  return out;
}

/** Paper is a little yellow. */
const PAPER = [0.97, 0.95, 0.88];
const WOOD = [120, 84, 56];

const wood = (x: number, y: number, channel: number, side: number): number =>
  (WOOD[channel] ?? 0) * (1 + 0.12 * Math.sin((40 * (y + 0.1 * x)) / side));

/** A channel between pixels, interpolated linearly. */
function sample({ width, height, data }: Pixels, x: number, y: number, channel: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const [right, down] = [x - left, y - top];
  const at = (column: number, row: number): number =>
    data[(Math.min(row, height - 1) * width + Math.min(column, width - 1)) * 4 + channel] ?? 0;
  const above = at(left, top) * (1 - right) + at(left + 1, top) * right;
  const below = at(left, top + 1) * (1 - right) + at(left + 1, top + 1) * right;
  return above * (1 - down) + below * down;
}

/** Each pixel as the mean of itself and its neighbours, twice as much of itself. */
function blurred({ width, height, data }: Pixels): Pixels {
  const once = along(data, 4, width * height);
  return { width, height, data: along(once, 4 * width, width * height) };
}

function along(data: Pixels['data'], step: number, count: number): Uint8Array {
  return Uint8Array.from({ length: count * 4 }, (_, i) => {
    const own = data[i] ?? 0;
    return ((data[i - step] ?? own) + 2 * own + (data[i + step] ?? own)) / 4;
  });
}

function boxAround({ left, top, width, height }: Box, map: Projection): Box {
  const seen = [
    [left, top],
    [left + width, top],
    [left + width, top + height],
    [left, top + height],
  ].map(([x = 0, y = 0]) => project(map, x, y));
  const [xs, ys] = [seen.map(([x]) => x), seen.map(([, y]) => y)];
  const [from, above] = [Math.min(...xs), Math.min(...ys)];
  return { left: from, top: above, width: Math.max(...xs) - from, height: Math.max(...ys) - above };
}
