import { expect, test } from 'vitest';
import { OneEuroFilter } from './one-euro.ts';

test('the first values are as they are, those after them are mixed by the cutoff', () => {
  const filter = new OneEuroFilter({ cutoff: 1 / (2 * Math.PI), speed: 0 });
  expect(filter.smooth([10, 0], 0)).toEqual([10, 0]);
  // With a cutoff of 1 / 2π a second has a share of a half.
  expect(filter.smooth([20, 0], 1000)).toEqual([15, 0]);
  expect(filter.smooth([15, 8], 2000)).toEqual([15, 4]);
});

test('the faster values move, the less they lag; speeds are measured by the scale', () => {
  const options = { cutoff: 0.05, speed: 80 };
  const lag = (scale: number): number => {
    const filter = new OneEuroFilter(options);
    filter.smooth([0], 0, scale);
    return 10 - (filter.smooth([10], 40, scale)[0] ?? 0);
  };
  expect(lag(1)).toBeLessThan(0.01);
  expect(lag(100)).toBeLessThan(lag(1000));
  // Smoothed speed: 10 / 1000 / 0.04 times the share of 0.04 s at 1 Hz.
  const share = (cutoff: number): number => 1 / (1 + 1 / (2 * Math.PI * cutoff * 0.04));
  expect(lag(1000)).toBeCloseTo(10 * (1 - share(0.05 + 80 * 0.25 * share(1))), 9);
});

test('values of the same time, or an earlier one, change nothing', () => {
  const filter = new OneEuroFilter({ cutoff: 1, speed: 0 });
  filter.smooth([0], 100);
  expect(filter.smooth([9], 100)).toEqual([9]);
  expect(filter.smooth([9], 50)).toEqual([9]);
  const [next = 0] = filter.smooth([1], 200);
  expect(next).toBeGreaterThan(0);
  expect(next).toBeLessThan(1);
});
