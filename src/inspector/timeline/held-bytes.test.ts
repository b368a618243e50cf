import { expect, test } from 'vitest';
import { timelineStorage } from '../testing/timeline-run.ts';
import { peakOf } from './held-bytes.ts';

test('the peak is found by the order of allocations, where a coarse clock has them at one moment', () => {
  // b is given back before c is allocated, all in one tick.
  const storages = [
    timelineStorage('a', 10, [1, 2], [0, 5]),
    timelineStorage('b', 40, [1, 1], [1, 2]),
    timelineStorage('c', 30, [1, 2], [3, 4]),
  ];
  expect(peakOf(storages)).toMatchObject({ atMs: 1, bytes: 50 });
  expect(peakOf(storages)?.holders.map(({ name }) => name)).toEqual(['b', 'a']);
  expect(peakOf([])).toBeUndefined();
});
