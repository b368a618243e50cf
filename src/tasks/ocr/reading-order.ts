import type { Point, Rectangle } from '../../core/pictures/rectangle.ts';

/** A piece of text on a page. */
interface Piece {
  /** Where it is: its width is the direction in which it is read. */
  readonly rectangle: Rectangle;
}

/** Pieces are in one row if their middles are nearer to each other than this share of the lower one. */
const SHARE = 0.5;
/** The part of the shorter of two pieces that may lie over the other in one row. */
const OVERLAP = 0.5;
/** Pieces that are lower than this share of another one, such as a dot, say nothing of its row. */
const LOWEST = 0.6;
/** Rows of a page that is seen at an angle rise or fall by less than this along it. */
const STEEPEST = 0.5;

/** A piece in the page's own directions: along its rows, and down from row to row. */
interface Placed<P extends Piece> {
  readonly piece: P;
  readonly along: number;
  readonly down: number;
  readonly length: number;
  readonly height: number;
  /** How far it falls along the page's rows, and how much that is to be trusted: the longer it is, the better it is known. */
  readonly slope: number;
  readonly weight: number;
}

/** The same with where its row is in the middle of the page, as rows of the page go. */
interface Levelled<P extends Piece> extends Placed<P> {
  readonly level: number;
}

/**
 * Pieces of text as they are read: rows from the top, in a row lines from its begin, for each line its pieces. The page may be turned,
 * also upside down; rows need not be parallel, as in a photograph from the side, nor straight, as on paper that is bent: how they go is
 * what the directions of all pieces tell. Pieces of a row that are nearer to each other than `blank` times the higher one's height are one line.
 */
export function readingOrder<P extends Piece>(pieces: readonly P[], blank: number): P[][][] {
  const direction = pageDirection(pieces);
  const placed = levelled(pieces.map((piece) => place(piece, direction)));
  const rows: Levelled<P>[][] = [];
  for (const each of placed.toSorted((a, b) => a.level - b.level)) {
    const row = nearestRow(rows, each);
    if (row === undefined) rows.push([each]);
    else row.push(each);
  }
  return rows
    .toSorted((a, b) => levelOf(a) - levelOf(b))
    .map((row) =>
      linesOf(
        row.toSorted((a, b) => a.along - b.along),
        blank,
      ),
    );
}

/** The direction in which most of the text is read. */
function pageDirection(pieces: readonly Piece[]): Point {
  let [x, y] = [0, 0];
  for (const { rectangle } of pieces) {
    const weight = trust(rectangle);
    x += weight * rectangle.along[0];
    y += weight * rectangle.along[1];
  }
  const length = Math.hypot(x, y);
  return length === 0 ? [1, 0] : [x / length, y / length];
}

/** The weight of a piece's direction: a piece about as high as wide has none to speak of. */
const trust = ({ width, height }: Rectangle): number => Math.max(width - height, 0);

function place<P extends Piece>(piece: P, [dx, dy]: Point): Placed<P> {
  const { center, along, width, height } = piece.rectangle;
  const forward = along[0] * dx + along[1] * dy;
  const aside = along[1] * dx - along[0] * dy;
  const isAcross = Math.abs(aside) > Math.abs(forward);
  const slope = isAcross ? 0 : aside / forward;
  const isKnown = !isAcross && Math.abs(slope) < STEEPEST;
  return {
    piece,
    along: center[0] * dx + center[1] * dy,
    down: center[1] * dx - center[0] * dy,
    length: isAcross ? height : width,
    height: isAcross ? width : height,
    slope: isKnown ? slope : 0,
    weight: isKnown ? trust(piece.rectangle) : 0,
  };
}

/** How rows fall: `fall` in the middle of the page, `bend` more for each pixel to the right, and `spread` more for each pixel down. */
interface RowShape {
  readonly fall: number;
  readonly bend: number;
  readonly spread: number;
}

const STRAIGHT: RowShape = { fall: 0, bend: 0, spread: 0 };
/** Rows are thought straight and parallel by so much of what all pieces say. */
const STIFFNESS = 0.003;

/**
 * Pieces with their rows' places in the middle of the page. Rows are parabolas that come from one point: lines of a plane that is seen at an
 * angle, bent a little.
 */
function levelled<P extends Piece>(placed: readonly Placed<P>[]): Levelled<P>[] {
  const mean = (of: (piece: Placed<P>) => number): number =>
    placed.reduce((sum, piece) => sum + of(piece), 0) / Math.max(placed.length, 1);
  const [middle, center] = [mean(({ along }) => along), mean(({ down }) => down)];
  const levelIn = ({ fall, bend, spread }: RowShape, { along, down }: Placed<P>): number => {
    const x = along - middle;
    return (down - center - fall * x - (bend * x * x) / 2) / Math.max(1 + spread * x, STEEPEST);
  };
  let shape = STRAIGHT;
  // The second time with the rows of the first.
  for (let turn = 0; turn < 2; turn++) {
    const before = shape;
    shape = rowShape(
      placed.map((piece) => ({ ...piece, x: piece.along - middle, y: levelIn(before, piece) })),
    );
  }
  return placed.map((piece) => ({ ...piece, level: levelIn(shape, piece) }));
}

/** A slope at a place of the page. */
interface Slope {
  readonly x: number;
  readonly y: number;
  readonly slope: number;
  readonly weight: number;
}

/** The least squares of slopes, with a little of straight and parallel rows (Hoerl and Kennard 1970). */
function rowShape(slopes: readonly Slope[]): RowShape {
  const sum = (of: (slope: Slope) => number): number =>
    slopes.reduce((all, each) => all + each.weight * of(each), 0);
  const all = sum(() => 1);
  if (all === 0) return STRAIGHT;
  const mean = (of: (slope: Slope) => number): number => sum(of) / all;
  const [x, y, slope] = [mean((s) => s.x), mean((s) => s.y), mean((s) => s.slope)];
  // The ridge grows with the extent of the lines, so that it counts alike in pictures of any size.
  const extent = slopes.reduce((most, s) => Math.max(most, Math.abs(s.x), Math.abs(s.y)), 1);
  const xx = mean((s) => (s.x - x) ** 2) + STIFFNESS * extent ** 2;
  const yy = mean((s) => (s.y - y) ** 2) + STIFFNESS * extent ** 2;
  const xy = mean((s) => (s.x - x) * (s.y - y));
  const xs = mean((s) => (s.x - x) * (s.slope - slope));
  const ys = mean((s) => (s.y - y) * (s.slope - slope));
  const determinant = xx * yy - xy * xy;
  const bend = (xs * yy - ys * xy) / determinant;
  const spread = (ys * xx - xs * xy) / determinant;
  return { fall: slope - bend * x - spread * y, bend, spread };
}

function nearestRow<P extends Piece>(
  rows: readonly Levelled<P>[][],
  piece: Levelled<P>,
): Levelled<P>[] | undefined {
  let nearest: Levelled<P>[] | undefined;
  let least = Infinity;
  for (const row of rows) {
    if (row.some((other) => overlapOf(other, piece) > OVERLAP)) continue;
    const beside = besideOf(row, piece);
    const apart = Math.abs(piece.level - beside.level);
    if (apart >= SHARE * Math.min(beside.height, piece.height) || apart >= least) continue;
    [nearest, least] = [row, apart];
  }
  return nearest;
}

/** The piece of a row that is nearest to another one along it, of those that are about as high if there are any. */
function besideOf<P extends Piece>(row: readonly Levelled<P>[], piece: Levelled<P>): Levelled<P> {
  const high = row.filter(({ height }) => height > LOWEST * piece.height);
  const from = high.length > 0 ? high : row;
  const distance = (other: Levelled<P>): number => Math.abs(other.along - piece.along);
  return from.reduce((best, next) => (distance(next) < distance(best) ? next : best));
}

/** How much of the shorter one of two pieces lies over or under the other. */
function overlapOf<P extends Piece>(a: Placed<P>, b: Placed<P>): number {
  const shared = Math.min(endOf(a), endOf(b)) - Math.max(beginOf(a), beginOf(b));
  return shared / Math.min(a.length, b.length);
}

const beginOf = ({ along, length }: { along: number; length: number }): number =>
  along - length / 2;
const endOf = ({ along, length }: { along: number; length: number }): number => along + length / 2;

/** The height of a row in the middle of the page: the mean of its pieces. */
function levelOf<P extends Piece>(row: readonly Levelled<P>[]): number {
  return row.reduce((sum, { level }) => sum + level, 0) / row.length;
}

/** The pieces of a row as lines: for each the pieces in it. */
function linesOf<P extends Piece>(row: readonly Placed<P>[], blank: number): P[][] {
  const lines: Placed<P>[][] = [];
  for (const each of row) {
    const line = lines.at(-1) ?? [];
    const gap = beginOf(each) - Math.max(...line.map(endOf));
    // Low pieces, such as rows of dots, say little about the width of a blank.
    const height = Math.max(each.height, ...line.map((other) => other.height));
    if (line.length > 0 && gap < blank * height) line.push(each);
    else lines.push([each]);
  }
  return lines.map((line) => line.map(({ piece }) => piece));
}
