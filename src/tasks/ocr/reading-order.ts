import type { Point, Rectangle } from '../../core/pictures/rectangle.ts';

/** A piece of text on a page. */
export interface Piece {
  /** Where it is: its width is the direction in which it is read. */
  readonly rectangle: Rectangle;
}

/** Pieces are in one row if their middles are nearer to each other than this share of the lower one. */
const SHARE = 0.5;
/** Of the shorter one of two pieces so much may lie over the other in one row. */
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

/**
 * Pieces of text as they are read: rows from the top, in a row lines from its begin, for each line its pieces. The page may be turned,
 * also upside down, and rows need not be parallel, as in a photograph from the side: whether two pieces are in one row is asked in the
 * directions of both. Pieces of a row that are nearer to each other than `blank` times the higher one's height are one line.
 */
export function readingOrder<P extends Piece>(pieces: readonly P[], blank: number): P[][][] {
  const direction = pageDirection(pieces);
  const placed = pieces.map((piece) => place(piece, direction));
  const rows: Placed<P>[][] = [];
  for (const each of placed.toSorted((a, b) => a.down - b.down)) {
    const row = nearestRow(rows, each);
    if (row === undefined) rows.push([each]);
    else row.push(each);
  }
  const middle = placed.reduce((sum, { along }) => sum + along, 0) / Math.max(placed.length, 1);
  return rows
    .toSorted((a, b) => levelOf(a, middle) - levelOf(b, middle))
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

/** What is about as long as high may have any direction. */
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

/** The row that goes on with a piece, if any. */
function nearestRow<P extends Piece>(
  rows: readonly Placed<P>[][],
  piece: Placed<P>,
): Placed<P>[] | undefined {
  let nearest: Placed<P>[] | undefined;
  let least = Infinity;
  for (const row of rows) {
    if (row.some((other) => overlapOf(other, piece) > OVERLAP)) continue;
    const beside = besideOf(row, piece);
    const slope = slopeOf([beside, piece]);
    const apart = Math.abs(piece.down - beside.down - slope * (piece.along - beside.along));
    if (apart >= SHARE * Math.min(beside.height, piece.height) || apart >= least) continue;
    [nearest, least] = [row, apart];
  }
  return nearest;
}

/** The piece of a row that is nearest to another one along it, of those that are about as high if there are any. */
function besideOf<P extends Piece>(row: readonly Placed<P>[], piece: Placed<P>): Placed<P> {
  const high = row.filter(({ height }) => height > LOWEST * piece.height);
  const from = high.length > 0 ? high : row;
  const distance = (other: Placed<P>): number => Math.abs(other.along - piece.along);
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

/** How far a row falls along the page's rows. Short pieces say little of it, and without any it does not fall. */
function slopeOf<P extends Piece>(row: readonly Placed<P>[]): number {
  let [sum, weights] = [0, 0];
  for (const { slope, weight, height } of row) {
    sum += slope * weight;
    weights += weight + height / row.length;
  }
  return sum / weights;
}

/** How far down a row is in the middle of the page. */
function levelOf<P extends Piece>(row: readonly Placed<P>[], middle: number): number {
  const slope = slopeOf(row);
  const levels = row.map(({ down, along }) => down - slope * (along - middle));
  return levels.reduce((sum, level) => sum + level, 0) / row.length;
}

/** The pieces of a row as lines: for each the pieces in it. */
function linesOf<P extends Piece>(row: readonly Placed<P>[], blank: number): P[][] {
  const lines: Placed<P>[][] = [];
  for (const each of row) {
    const last = lines.at(-1)?.at(-1);
    const gap = last === undefined ? 0 : beginOf(each) - endOf(last);
    if (last !== undefined && gap < blank * Math.max(last.height, each.height)) {
      lines.at(-1)?.push(each);
    } else lines.push([each]);
  }
  return lines.map((line) => line.map(({ piece }) => piece));
}
