import type { Output, Progress } from './runtime.ts';

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
  let [worst, low, high] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < expected.data.length; i++) {
    const [a, b] = [Number(actual.data[i]), Number(expected.data[i])];
    low = Math.min(low, b);
    high = Math.max(high, b);
    if (Object.is(a, b)) continue;
    const gap = Math.abs(a - b);
    worst = Math.max(worst, Number.isNaN(gap) ? Number.POSITIVE_INFINITY : gap);
  }
  return worst === 0 ? 0 : worst / Math.max(high - low || Math.abs(high), 1e-6);
}

/** Steps whose losses are compared. */
export const COMPARED_STEPS = 5;
/** Gradients have to be so many times nearer than losses. */
const GRADIENT_FACTOR = 100;

/**
 * How far losses are apart, as a share of Weft's, or {@link GRADIENT_FACTOR} times how far the gradients of a parameter
 * are, by norms, where both runtimes tell them; no number where one is none.
 */
export function trainingDifference(actual: Progress, expected: Progress): number {
  const losses = expected.losses.map((loss, i) =>
    Math.abs(((actual.losses[i] ?? Number.NaN) - loss) / loss),
  );
  const gradients = Object.entries((actual.gradients && expected.gradients) ?? {}).map(
    ([parameter, values]) => {
      const theirs = actual.gradients?.[parameter] ?? new Float32Array();
      let [apart, size] = [0, 0];
      for (const [i, value] of values.entries()) {
        apart += (value - (theirs[i] ?? Number.NaN)) ** 2;
        size += value ** 2;
      }
      return GRADIENT_FACTOR * Math.sqrt(apart / size);
    },
  );
  return Math.max(...losses, ...gradients);
}
