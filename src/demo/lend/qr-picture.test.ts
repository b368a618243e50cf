import { encode } from 'uqr';
import { expect, test } from 'vitest';
import { outline } from './qr-picture.ts';

/** The modules that the rectangles of a path cover. */
function modulesOf(path: string, size: number): boolean[][] {
  const rows = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    rows[Number(y)]?.fill(true, Number(x), Number(x) + Number(width));
  }
  return rows;
}

test('the outline covers exactly the dark modules', () => {
  const { data, size } = encode('https://weft.example/rpc.html#relay=ws%3A%2F%2Fa&key=b', {
    ecc: 'L',
    border: 4,
  });
  const path = outline(data);
  expect(modulesOf(path, size)).toEqual(data);
  // Nothing but these rectangles.
  expect(path.replaceAll(/M\d+ \d+h\d+v1h-\d+z/g, '')).toBe('');
  expect(outline([[false, false]])).toBe('');
});
