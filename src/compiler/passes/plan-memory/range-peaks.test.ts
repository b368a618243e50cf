import { expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { RangePeaks } from './range-peaks.ts';

test('additions to ranges and the greatest of ranges, as by hand', () => {
  const random = seededRandom(1);
  for (const length of [1, 2, 5, 8, 37]) {
    const plain = Array.from({ length }, () => Math.floor(random() * 100));
    const peaks = new RangePeaks(plain);
    for (let i = 0; i < 100; i++) {
      const [a, b] = [random(), random()].map((x) => Math.floor(x * length));
      const [first, last] = [Math.min(a ?? 0, b ?? 0), Math.max(a ?? 0, b ?? 0)];
      expect(peaks.peak(first, last)).toBe(Math.max(...plain.slice(first, last + 1)));
      const amount = Math.floor(random() * 40) - 20;
      peaks.add(first, last, amount);
      for (let at = first; at <= last; at++) plain[at] = (plain[at] ?? 0) + amount;
    }
    expect(peaks.peak(0, length - 1)).toBe(Math.max(...plain));
  }
});

test('an empty range has no greatest', () => {
  const peaks = new RangePeaks([1, 2, 3]);
  expect(peaks.peak(2, 1)).toBe(-Infinity);
  peaks.add(2, 1, 5);
  expect(peaks.peak(0, 2)).toBe(3);
});
