import { expect, test } from 'vitest';
import { timelineEvent, timelineRun } from '../testing/timeline-run.ts';
import { tickStep } from './draw-timeline.ts';
import { unionMs, unionWithoutMs } from './intervals.ts';
import { MOST_ROWS, timelineLanes } from './timeline-lanes.ts';
import { ROW_HEIGHT, TimelineScene } from './timeline-scene.ts';

const [first, second] = [
  timelineEvent('instruction', 'alloc', [0, 1]),
  timelineEvent('instruction', 'matmul', [2, 1]),
];
const kernel = timelineEvent('kernel', 'matmul', [3, 4]);
const SCENE = new TimelineScene(timelineRun(8, [first, second, kernel]));

test('an event is found where it is drawn, and near it', () => {
  const [row] = SCENE.rows;
  const y = (row?.top ?? 0) + ROW_HEIGHT / 2;
  const found = (ms: number, within: number) => {
    const place = SCENE.eventAt(y, ms, within);
    return place && SCENE.event(place);
  };
  expect(found(0.5, 0)).toBe(first);
  expect(found(1.5, 0.1)).toBeUndefined();
  expect(found(1.8, 0.3)).toBe(second);
  expect(SCENE.eventAt(0, 0.5, 1)).toBeUndefined();
});

test('keys go along a row, and to what is nearest in another', () => {
  const at = (byX: number, byY: number, from = SCENE.placeOf(second)) => {
    const place = SCENE.beside(from, byX, byY);
    return place && SCENE.event(place);
  };
  expect(at(-1, 0)).toBe(first);
  expect(at(1, 0)).toBe(second);
  expect(at(0, 1)).toBe(kernel);
  expect(at(0, -1)).toBe(second);
  expect(SCENE.event(SCENE.beside(undefined, 1, 0) ?? { row: 9, index: 9 })).toBe(first);
});

test('what overlaps is in rows of its own, as many as there is room for', () => {
  const all = Array.from({ length: MOST_ROWS + 3 }, (_, i) =>
    timelineEvent('compile', `${i}`, [i, 100]),
  );
  const [lane, ...others] = timelineLanes({ events: all });
  expect(others).toEqual([]);
  expect(lane?.rows.map((row) => row.length)).toEqual([
    ...new Array<number>(MOST_ROWS - 1).fill(1),
    4,
  ]);
  // The last row is searched from its begin.
  const scene = new TimelineScene(timelineRun(120, all));
  const row = scene.rows.at(-1);
  expect(scene.eventAt((row?.top ?? 0) + 1, 5, 200)?.index).toBe(0);
});

test('time in which several go on counts once', () => {
  const of = (beginMs: number, endMs: number) => ({ beginMs, endMs });
  expect(unionMs([of(5, 6), of(0, 2), of(1, 3), of(3, 4)])).toBe(5);
  expect(unionWithoutMs([of(0, 10)], [of(2, 4), of(8, 12)])).toBe(6);
  expect(unionWithoutMs([], [of(2, 4)])).toBe(0);
});

test('ticks stand at round times', () => {
  expect([0.03, 0.2, 1.1, 7, 30].map(tickStep)).toEqual([0.05, 0.2, 2, 10, 50]);
});
