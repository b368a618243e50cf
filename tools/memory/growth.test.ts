import { expect, test } from 'vitest';
import { growthOf } from './growth.ts';
import type { MemorySample } from './memory-sample.ts';

function sample(cycle: number, scriptBytes: number): MemorySample {
  return { cycle, scriptBytes, processBytes: 0, deviceBytes: 0 };
}

test('a leak shows through noise, and noise alone is none', () => {
  const noise = [0, 9e5, 0, -4e5, 2e5, 0, 0, 3e5];
  const steady = noise.map((bytes, i) => sample(10 * (i + 1), 5e7 + bytes));
  const leaking = noise.map((bytes, i) => sample(10 * (i + 1), 5e7 + bytes + 300_000 * i));
  expect(Math.abs(growthOf(steady, ({ scriptBytes }) => scriptBytes))).toBeLessThan(3e6);
  expect(growthOf(leaking, ({ scriptBytes }) => scriptBytes) / 900).toBeCloseTo(30_000, -4);
});
