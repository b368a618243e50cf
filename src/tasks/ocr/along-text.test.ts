import { describe, expect, test } from 'vitest';
import type { Point, Rectangle } from '../../core/pictures/rectangle.ts';
import { cutRectangle } from '../../core/pictures/cut-rectangle.ts';
import { formulaPicture } from '../testing/test-pictures.ts';
import { placedIn, sideways, turnedWhole, upsideDown, wholeOf } from './along-text.ts';

const line = (width: number, height: number, along: Point = [1, 0]): Rectangle => ({
  center: [0, 0],
  along,
  width,
  height,
});
const upsideDownOf = (lines: readonly (readonly [line: Rectangle, over: number])[]) =>
  upsideDown(
    lines.map(([rectangle]) => ({ rectangle })),
    lines.map(([, over]) => over),
  );

test('a rectangle of a turned picture has the same pixels in the picture itself', () => {
  const picture = formulaPicture(40, 24);
  const turned = turnedWhole(picture);
  const within: Rectangle = { center: [9.5, 14], along: [0.8, 0.6], width: 12, height: 5 };
  const found = cutRectangle(cutRectangle(picture, turned), within);
  expect(cutRectangle(picture, placedIn(turned, within))).toEqual(found);
  expect(placedIn(wholeOf(picture), within)).toEqual(within);
});

test('a page lies on its side where most of its text goes down, by length', () => {
  const down: Point = [0, 1];
  expect(sideways([line(90, 10), line(40, 10, down), line(40, 10, down)])).toBeLessThan(0);
  expect(sideways([line(90, 10), line(60, 10, down), line(60, 10, down)])).toBeGreaterThan(0);
  expect(sideways([line(10, 10, down)])).toBe(0);
});

describe('which lines are upside down', () => {
  test('those of which the model is sure, and short ones as they are', () => {
    expect(
      upsideDownOf([
        [line(90, 10), 0.99],
        [line(80, 10), 0.97],
        [line(60, 10), 0.01],
        [line(12, 10), 0.02],
        [line(70, 10), 0.4],
      ]),
    ).toEqual([true, true, false, true, true]);
  });

  test('text in another direction is another matter', () => {
    expect(
      upsideDownOf([
        [line(90, 10), 0.99],
        [line(12, 10, [0, 1]), 0.02],
      ]),
    ).toEqual([true, false]);
  });

  test('without a line that is long, each for itself', () => {
    expect(
      upsideDownOf([
        [line(20, 10), 0.95],
        [line(12, 10), 0.5],
      ]),
    ).toEqual([true, false]);
  });
});
