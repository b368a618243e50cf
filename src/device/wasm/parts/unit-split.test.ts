import { expect, test } from 'vitest';
import { UnitSplit } from './unit-split.ts';

/** Runs in which a unit takes so long, and messages of the other threads so long beside. */
function run(split: UnitSplit, { unitMs = 0.1, messageMs = 0 }): boolean {
  const [own = { first: 0, end: 0 }, ...others] = split.ranges;
  const ends = others.map(({ first, end }) => messageMs + unitMs * (end - first));
  return split.record({
    ownBegin: 0,
    ownEnd: unitMs * (own.end - own.first),
    end: Math.max(unitMs * (own.end - own.first), ...ends),
  });
}

const sizes = ({ ranges }: UnitSplit) => ranges.map(({ first, end }) => end - first);

test('units are divided evenly at first, all of them', () => {
  expect(new UnitSplit(10, { others: 1 }).ranges).toEqual([
    { first: 0, end: 5 },
    { first: 5, end: 10 },
  ]);
  expect(sizes(new UnitSplit(10, { others: 3 }))).toEqual([3, 2, 3, 2]);
  expect(sizes(new UnitSplit(2, { others: 3 }))).toEqual([0, 1, 1, 0]);
});

test('this thread does more where others wait for messages', () => {
  const split = new UnitSplit(100, { others: 1 });
  expect(run(split, { messageMs: 50 })).toBe(false);
  expect(run(split, { messageMs: 2 })).toBe(false);
  expect(run(split, { messageMs: 2 })).toBe(true);
  expect(sizes(split)).toEqual([60, 40]);
  expect(split.isSettled).toBe(true);
  expect(run(split, { messageMs: 5 })).toBe(false);
  expect(sizes(split)).toEqual([60, 40]);
});

test('several others share the rest evenly', () => {
  const split = new UnitSplit(120, { others: 2 });
  for (let i = 0; i < 3; i++) run(split, { messageMs: 3 });
  expect(sizes(split)).toEqual([60, 30, 30]);
});

test('where messages take longer than all units, the others keep half of an even part', () => {
  const split = new UnitSplit(100, { others: 1 });
  for (let i = 0; i < 3; i++) run(split, { messageMs: 50 });
  expect(sizes(split)).toEqual([75, 25]);
});

test('nothing changes where others are done first, or units are to stay as they are', () => {
  const even = new UnitSplit(100, { others: 1 });
  for (let i = 0; i < 3; i++) expect(run(even, {})).toBe(false);
  expect(sizes(even)).toEqual([50, 50]);
  const fixed = new UnitSplit(100, { others: 1, isFixed: true });
  for (let i = 0; i < 3; i++) expect(run(fixed, { messageMs: 5 })).toBe(false);
  expect(sizes(fixed)).toEqual([50, 50]);
});

test('short runs are measured more often', () => {
  const split = new UnitSplit(100, { others: 1 });
  let count = 0;
  while (!split.isSettled) {
    run(split, { unitMs: 0.01, messageMs: 0.2 });
    count++;
  }
  expect(count).toBe(7);
  expect(sizes(split)).toEqual([60, 40]);
});
