import { expect, test } from 'vitest';
import { timelineEvent, timelineRun, timelineStorage } from '../testing/timeline-run.ts';
import { median } from '../../core/median.ts';
import { medianRun } from './timeline-panel.ts';

test('the median of an even number is the lower one of the middle', () => {
  expect([median([]), median([3]), median([4, 1, 3, 2]), median([9, 1, 5])]).toEqual([0, 3, 2, 5]);
});

test('events that all runs have get the medians of their begins and ends', () => {
  const run = (totalMs: number, begin: number, length: number) =>
    timelineRun(
      totalMs,
      [
        timelineEvent('instruction', 'add', [begin, length]),
        timelineEvent('kernel', 'add', [begin + 1, length]),
      ],
      { storages: [timelineStorage('add', 256, [begin, totalMs], [0, 1])] },
    );
  const median = medianRun([run(30, 9, 2), run(10, 1, 5), run(20, 2, 3)]);
  expect(median?.totalMs).toBe(20);
  expect(median?.events.map(({ kind, beginMs, endMs }) => [kind, beginMs, endMs])).toEqual([
    ['instruction', 2, 6],
    ['kernel', 3, 7],
  ]);
  expect(median?.storages.map(({ beginMs, endMs }) => [beginMs, endMs])).toEqual([[2, 20]]);
});

test('what not all runs have is that of the run of median length', () => {
  const warm = timelineRun(2, [timelineEvent('instruction', 'add', [0, 1])]);
  const cold = timelineRun(50, [
    timelineEvent('compile', 'add.wgsl', [0, 40]),
    timelineEvent('instruction', 'add', [41, 1]),
  ]);
  expect(medianRun([cold, warm, { ...warm, totalMs: 3 }])?.events.map(({ kind }) => kind)).toEqual([
    'instruction',
  ]);
  const other = timelineRun(3, [timelineEvent('instruction', 'mul', [0, 9])]);
  expect(medianRun([warm, other, cold])?.events).toEqual(other.events);
  expect(medianRun([])).toBeUndefined();
});
