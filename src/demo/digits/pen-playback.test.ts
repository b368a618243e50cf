import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { firstPoints, PenPlayback } from './pen-playback.ts';
import type { Stroke } from './rasterize-drawing.ts';

const [a, b, c] = [1, 2, 3].map((x) => ({ x, y: 0 })) as [Stroke[0], Stroke[0], Stroke[0]];
const drawing: Stroke[] = [[a, b], [c]];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a pen reaches one point after the other, stroke by stroke', () => {
  expect([0, 1, 2, 3, 9].map((count) => firstPoints(drawing, count))).toEqual([
    [],
    [[a]],
    [[a, b]],
    [[a, b], [c]],
    [[a, b], [c]],
  ]);
});

test('drawings are written one after the other until the pen is stopped', () => {
  const shown: string[] = [];
  let drawn = 0;
  const pen = new PenPlayback({
    next: () => {
      drawn++;
      return drawing;
    },
    show: (strokes) => shown.push(strokes.map(({ length }) => length).join('+')),
  });
  pen.start();
  vi.advanceTimersByTime(100);
  expect(shown).toEqual(['1', '2', '2+1']);
  vi.advanceTimersByTime(1300);
  expect([drawn, shown.at(-1), pen.isRunning]).toEqual([2, '1', true]);
  pen.stop();
  vi.advanceTimersByTime(10_000);
  expect([drawn, shown.length, pen.isRunning]).toEqual([2, 4, false]);
});
