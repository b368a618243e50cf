import type { Output } from './runtime.ts';

/**
 * The largest |actual - expected| over all outputs, each divided by the range of what was expected,
 * or by its size where all elements are the same; infinite where shapes differ or where only one is finite.
 */
export function largestDifference(actual: readonly Output[], expected: readonly Output[]): number {
  if (actual.length !== expected.length) return Number.POSITIVE_INFINITY;
  return Math.max(...expected.map((output, i) => difference(actual[i], output)));
}

function difference(actual: Output | undefined, expected: Output): number {
  if (actual === undefined || actual.shape.join() !== expected.shape.join()) {
    return Number.POSITIVE_INFINITY;
  }
  let worst = 0;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < expected.data.length; i++) {
    const [a, b] = [Number(actual.data[i]), Number(expected.data[i])];
    if (Object.is(a, b)) continue;
    const gap = Math.abs(a - b);
    worst = Math.max(worst, Number.isNaN(gap) ? Number.POSITIVE_INFINITY : gap);
  }
  for (let i = 0; i < expected.data.length; i++) {
    low = Math.min(low, Number(expected.data[i]));
    high = Math.max(high, Number(expected.data[i]));
  }
  return worst === 0 ? 0 : worst / Math.max(high - low || Math.abs(high), 1e-6);
}
