import { expect, test } from 'vitest';
import { rotaryFrequencies, yarnFactors, yarnMagnitude } from './rotary-scaling.ts';

const ROTARY = { width: 128, theta: 10_000, scale: 1, magnitude: 1 };

test('pairs that turn often keep their frequency, those that turn seldom are slowed by the factor', () => {
  const originalContext = 4096;
  const factors = yarnFactors(ROTARY, { factor: 16, originalContext });
  const frequencies = rotaryFrequencies(ROTARY, undefined);
  for (const [i, factor] of factors.entries()) {
    const turns = (originalContext * (frequencies[i] ?? Number.NaN)) / (2 * Math.PI);
    // The ends are rounded outward to whole pairs.
    if (turns > 32 * 1.2) expect(factor).toBe(1);
    else if (turns < 1 / 1.2) expect(factor).toBe(16);
    else {
      expect(factor).toBeGreaterThanOrEqual(factors[i - 1] ?? 1);
      expect(factor).toBeLessThanOrEqual(16);
    }
  }
  expect(factors.filter((factor) => factor > 1 && factor < 16)).toHaveLength(25);
});

test('without rounding the way begins at the pair of so many turns', () => {
  const options = { factor: 4, originalContext: 4096, fastTurns: 8, slowTurns: 2 };
  const pairOf = (turns: number): number =>
    (64 * Math.log(4096 / (turns * 2 * Math.PI))) / Math.log(10_000);
  const [first, last] = [pairOf(8), pairOf(2)];
  const factors = yarnFactors(ROTARY, { ...options, truncates: false });
  const between = Math.round((first + last) / 2);
  const share = (between - first) / (last - first);
  expect(factors[between]).toBeCloseTo(1 / (share / 4 + 1 - share), 12);
  expect(yarnFactors(ROTARY, options)[between]).not.toBeCloseTo(factors[between] ?? 0, 3);
});

test('the magnitude grows with the logarithm of the factor', () => {
  expect(yarnMagnitude(1)).toBe(1);
  expect(yarnMagnitude(0.5)).toBe(1);
  expect(yarnMagnitude(Math.E)).toBeCloseTo(1.1, 12);
  expect(yarnMagnitude(Math.E, 0.5)).toBeCloseTo(1.05, 12);
});
