import { expect, test } from 'vitest';
import { LatestRunner } from './sections/draw-section.ts';

test('skips inputs that a newer one replaced, and never overlaps runs', async () => {
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const runner = new LatestRunner<number>((input) => {
    started.push(input);
    return new Promise((resolve) => finish.push(resolve));
  });
  for (const input of [1, 2, 3, 4]) runner.submit(input);
  expect(started).toEqual([1]);
  finish.shift()?.();
  await Promise.resolve();
  await Promise.resolve();
  expect(started).toEqual([1, 4]);
  finish.shift()?.();
  await new Promise((resolve) => setTimeout(resolve));
  runner.submit(5);
  expect(started).toEqual([1, 4, 5]);
});
