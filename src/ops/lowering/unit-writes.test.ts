import { expect, test } from 'vitest';
import {
  type UnitWrites,
  writesInOrder,
  writesOfColumns,
  writesOfMatrices,
  writesOfTiles,
} from './unit-writes.ts';

/** The elements that a range of units writes. */
function elementsOf(writes: UnitWrites, first: number, end: number): number[] {
  return writes(first, end).flatMap(({ begin, length, repeats }) => {
    const begins = repeats.reduce(
      (all, { count, stride }) =>
        all.flatMap((at) => Array.from({ length: count }, (_, i) => at + i * stride)),
      [begin],
    );
    return begins.flatMap((at) => Array.from({ length }, (_, i) => at + i));
  });
}

/** The unit that writes each of so many elements; throws where ranges of units give other elements. */
function writers(writes: UnitWrites, units: number, elements: number): number[] {
  const unitOf = new Array<number>(elements).fill(-1);
  for (let unit = 0; unit < units; unit++) {
    for (const element of elementsOf(writes, unit, unit + 1)) {
      if (unitOf[element] !== -1) throw new Error(`element ${element} is written twice`);
      unitOf[element] = unit;
    }
  }
  for (let first = 0; first < units; first++) {
    for (let end = first + 1; end <= units; end++) {
      const found = elementsOf(writes, first, end).sort((a, b) => a - b);
      const expected = unitOf.flatMap((unit, i) => (unit >= first && unit < end ? [i] : []));
      expect(found, `units ${first} to ${end}`).toEqual(expected);
    }
  }
  return unitOf;
}

test('units in order', () => {
  expect(writers(writesInOrder(3), 3, 9)).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2]);
  expect(writesInOrder(3)(1, 3)).toEqual([{ begin: 3, length: 6, repeats: [] }]);
});

test('units of columns, of which the last has fewer', () => {
  const writes = writesOfColumns({ rows: 2, columns: 5 }, 2);
  expect(writers(writes, 3, 10)).toEqual([0, 0, 1, 1, 2, 0, 0, 1, 1, 2]);
});

test('units of the columns of several matrices', () => {
  const ofParts = writesOfColumns({ rows: 2, columns: 3 }, 2);
  const writes = writesOfMatrices({ rows: 2, columns: 3, parts: 2, ofParts });
  expect(writers(writes, 4, 12)).toEqual([0, 0, 1, 0, 0, 1, 2, 2, 3, 2, 2, 3]);
});

test.each([
  { planes: 2, height: 5, width: 7, size: 2, tiles: 3 },
  { planes: 1, height: 8, width: 8, size: 4, tiles: 1 },
  { planes: 3, height: 9, width: 3, size: 4, tiles: 2 },
  { planes: 1, height: 13, width: 22, size: 4, tiles: 8 },
  { planes: 1, height: 13, width: 26, size: 2, tiles: 8 },
  { planes: 2, height: 3, width: 3, size: 4, tiles: 8 },
])('units of tiles: %j', (given) => {
  const { planes, height, width, size, tiles } = given;
  const across = Math.ceil(width / size);
  const units = Math.ceil((across * Math.ceil(height / size)) / tiles);
  const expected = Array.from({ length: planes * height * width }, (_, i) => {
    const [row, column] = [Math.floor(i / width) % height, i % width];
    return Math.floor((Math.floor(row / size) * across + Math.floor(column / size)) / tiles);
  });
  const writes = writesOfTiles({ ...given, across });
  expect(writers(writes, units, expected.length)).toEqual(expected);
});
