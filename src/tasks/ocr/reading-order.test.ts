import { describe, expect, test } from 'vitest';
import type { Point, Rectangle } from '../../core/pictures/rectangle.ts';
import { readingOrder } from './reading-order.ts';

/** Pieces of a page as name, left edge, middle of its height and length; all are 10 high. */
type Row = readonly [name: string, left: number, middle: number, length: number];

interface Named {
  readonly name: string;
  readonly rectangle: Rectangle;
}

/** Maps a point of the page to where it is seen. */
type View = (x: number, y: number) => Point;

const flat: View = (x, y) => [x, y];

const turned =
  (degrees: number): View =>
  (x, y) => {
    const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
    return [x * c - y * s, x * s + y * c];
  };

/** A page whose right side is farther away: its rows come together there. */
const fromTheSide: View = (x, y) => {
  const farther = 1 + x / 900;
  return [x / farther, (y - 60) / farther];
};

/** Paper that is bent: its middle is lower by most of a row, and it is seen from above. */
const bent: View = (x, y) => {
  const nearer = 1 + y / 1500;
  return [(x - 160) * nearer, (y + 14 * Math.sin((Math.PI * (x + 20)) / 350)) * nearer];
};

function seen([name, left, middle, length]: Row, view: View): Named {
  const [from, to] = [view(left, middle), view(left + length, middle)];
  const [above, below] = [view(left, middle - 5), view(left, middle + 5)];
  const width = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const rectangle: Rectangle = {
    center: [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2],
    along: [(to[0] - from[0]) / width, (to[1] - from[1]) / width],
    width,
    height: Math.hypot(below[0] - above[0], below[1] - above[1]),
  };
  return { name, rectangle };
}

const RECEIPT: readonly Row[] = [
  ['shop', 60, 0, 120],
  ['bread', 0, 18, 110],
  ['2.85', 260, 18, 30],
  ['milk', 0, 36, 80],
  ['x 2', 84, 36, 22],
  ['3.90', 260, 36, 30],
  ['total', 0, 54, 50],
  ['6.75', 260, 54, 30],
  ['thanks', 0, 72, 60],
  ['!', 300, 90, 10],
];

const READ = [
  ['shop'],
  ['bread', '2.85'],
  ['milk x 2', '3.90'],
  ['total', '6.75'],
  ['thanks'],
  ['!'],
];

const order = (view: View, rows = RECEIPT): string[][] => {
  const pieces = rows.map((row) => seen(row, view)).toReversed();
  return readingOrder(pieces, 0.5).map((row) =>
    row.map((line) => line.map(({ name }) => name).join(' ')),
  );
};

describe('pieces of text are read row by row', () => {
  test('as they lie', () => {
    expect(order(flat)).toEqual(READ);
  });

  test.each([-30, -12, -4, 3, 8, 20, 90, 180, -90, 173])('turned by %d degrees', (degrees) => {
    expect(order(turned(degrees))).toEqual(READ);
  });

  test('from the side', () => {
    expect(order(fromTheSide)).toEqual(READ);
  });

  test('on bent paper', () => {
    expect(order(bent)).toEqual(READ);
  });

  test('behind a low piece a blank is as wide as elsewhere', () => {
    const piece = (name: string, left: number, width: number, height: number): Named => ({
      name,
      rectangle: { center: [left + width / 2, 0], along: [1, 0], width, height },
    });
    const pieces = [
      piece('card', 0, 100, 12),
      piece('****', 103, 30, 7),
      piece('4821', 138, 40, 9),
    ];
    const names = readingOrder(pieces, 0.5).map((row) =>
      row.map((line) => line.map((p) => p.name)),
    );
    expect(names).toEqual([[['card', '****', '4821']]]);
  });

  test('what lies over another piece is in another row, however near', () => {
    const rows: Row[] = [
      ['upper', 0, 0, 60],
      ['lower', 2, 4, 60],
    ];
    expect(order(flat, rows)).toEqual([['upper'], ['lower']]);
  });

  test('where there is nothing, nothing is read', () => {
    expect(readingOrder([], 0.5)).toEqual([]);
  });
});
