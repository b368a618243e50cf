import { expect, test } from 'vitest';
import { plus, times } from './address.ts';
import { i32, load, local } from './expression.ts';
import { byFours, forParts, partWidths } from './for-parts.ts';
import { increment, store } from './statement.ts';
import { runStatements } from './testing/run-statements.ts';

interface Range {
  readonly first?: number;
  readonly end?: number;
}

/** How often the items of each part are visited, and how wide the part is that visits them. */
function visits(count: number, width: number, { first, end }: Range = {}): number[] {
  const index = local('i32');
  const range = {
    ...(first === undefined ? {} : { first: i32(first) }),
    ...(end === undefined ? {} : { end: i32(end) }),
  };
  const statements = forParts({ index, count, width, ...range }, (items) => {
    const address = times(index, 4);
    return [store('i32', { address }, plus(load('i32', address), items))];
  });
  return [...runStatements(statements).subarray(0, Math.ceil(count / width) + 1)];
}

test('whole parts are visited once, and behind them the last part with the items that are left', () => {
  expect(visits(10, 4)).toEqual([4, 4, 2, 0]);
  expect(visits(8, 4)).toEqual([4, 4, 0]);
  expect(visits(3, 4)).toEqual([3, 0]);
  expect(visits(0, 4)).toEqual([0]);
  expect(partWidths(10, 4)).toEqual([4, 2]);
  expect(partWidths(8, 4)).toEqual([4]);
  expect(partWidths(3, 4)).toEqual([3]);
});

test('ranges that follow each other visit each part once: the last one belongs to its range alone', () => {
  expect(visits(10, 4, { first: 0, end: 1 })).toEqual([4, 0, 0, 0]);
  expect(visits(10, 4, { first: 1, end: 2 })).toEqual([0, 4, 0, 0]);
  expect(visits(10, 4, { first: 2, end: 3 })).toEqual([0, 0, 2, 0]);
  expect(visits(10, 4, { first: 0, end: 3 })).toEqual([4, 4, 2, 0]);
});

test.each([0, 1, 3, 4, 5, 11])('by fours %i elements are taken once, in order', (count) => {
  const [from, to] = [local('i32'), local('i32')];
  const statements = [
    increment(to, 64),
    ...byFours({ count, pointers: [from, to], steps: [4, 8] }, (items) =>
      Array.from({ length: items }, (_, i) =>
        store('i32', { address: to, offset: 8 * i }, plus(load('i32', from, 4 * i), 100)),
      ),
    ),
  ];
  const words = Array.from({ length: count }, (_, i) => i + 1);
  const memory = runStatements(statements, words);
  expect([...memory.subarray(16, 16 + 2 * count + 2)]).toEqual([
    ...words.flatMap((word) => [word + 100, 0]),
    0,
    0,
  ]);
});
