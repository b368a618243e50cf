import { expect, test } from 'vitest';
import { seededRandom } from '../../../core/random.ts';
import { errorFeedback, roundWithFeedback } from './error-feedback.ts';

const DEPTH = 24;
const SAMPLES = 200;

/** Inputs that go along with each other, of different sizes; the lower triangle of the sum of x xᵀ. */
function momentsOf(seed: number): Float64Array {
  const random = seededRandom(seed);
  const moments = new Float64Array((DEPTH * (DEPTH + 1)) / 2);
  for (let sample = 0; sample < SAMPLES; sample++) {
    const shared = random();
    const x = Array.from({ length: DEPTH }, (_, i) => (shared + 0.3 * random()) * (1 + (i % 5)));
    for (let i = 0, at = 0; i < DEPTH; i++) {
      for (let j = 0; j <= i; j++, at++)
        moments[at] = (moments[at] ?? 0) + (x[i] ?? 0) * (x[j] ?? 0);
    }
  }
  return moments;
}

/** The sum of squares of what errors make of the inputs. */
function squaresOf(errors: readonly number[], moments: Float64Array): number {
  let sum = 0;
  for (let i = 0, at = 0; i < DEPTH; i++) {
    for (let j = 0; j <= i; j++, at++) {
      sum += (i === j ? 1 : 2) * (moments[at] ?? 0) * (errors[i] ?? 0) * (errors[j] ?? 0);
    }
  }
  return sum;
}

function rounded(row: readonly number[], moments: Float64Array | undefined): number[] {
  const feedback = moments && errorFeedback(moments, { depth: DEPTH, count: SAMPLES });
  if (feedback === undefined) return row.map((value) => Math.round(value));
  const result: number[] = [];
  roundWithFeedback(row, feedback, (value, index) => (result[index] = Math.round(value)));
  return result;
}

test('inputs of samples see smaller errors', () => {
  const moments = momentsOf(1);
  const random = seededRandom(2);
  let [plain, fed] = [0, 0];
  for (let i = 0; i < 50; i++) {
    const row = Array.from({ length: DEPTH }, () => 20 * random() - 10);
    const errorsOf = (codes: readonly number[]): number[] =>
      codes.map((code, at) => (row[at] ?? 0) - code);
    plain += squaresOf(errorsOf(rounded(row, undefined)), moments);
    fed += squaresOf(errorsOf(rounded(row, moments)), moments);
  }
  expect(fed).toBeLessThan(plain / 10);
});

test('the last element makes up for the others as far as it can', () => {
  // Both inputs are always the same, so that only the sum of a row counts.
  const feedback = errorFeedback(Float64Array.of(1e6, 1e6, 1e6), { depth: 2, count: 1e6 });
  const codes: number[] = [];
  roundWithFeedback([0.4, 0.4], feedback ?? expect.unreachable(), (value, index) => {
    return (codes[index] = Math.round(value));
  });
  expect(codes).toEqual([0, 1]);
});

test('inputs that have nothing to do with each other carry nothing over; the largest come first', () => {
  const moments = new Float64Array((DEPTH * (DEPTH + 1)) / 2);
  for (let i = 0; i < DEPTH; i++) moments[(i * (i + 3)) / 2] = 1 + ((i * 7) % DEPTH);
  const { order, shares } =
    errorFeedback(moments, { depth: DEPTH, count: SAMPLES }) ?? expect.unreachable();
  expect(shares.every((share) => share === 0)).toBe(true);
  expect(shares).toHaveLength((DEPTH * (DEPTH - 1)) / 2);
  const sizes = [...order].map((i) => (i * 7) % DEPTH);
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
});

test('of few samples less is carried over', () => {
  const moments = Float64Array.of(1, 0.5, 1);
  const sharesOf = (count: number): number =>
    errorFeedback(moments, { depth: 2, count })?.shares[0] ?? Number.NaN;
  expect(sharesOf(1e6)).toBeCloseTo(0.5 / 1.01, 6);
  expect(sharesOf(2)).toBeCloseTo(0.5 / 1.06, 6);
  expect(sharesOf(1)).toBeCloseTo(0.5 / 1.16, 6);
});

test('inputs that are zero or not finite say nothing', () => {
  const sizes = { depth: 2, count: 4 };
  expect(errorFeedback(new Float64Array(3), sizes)).toBeUndefined();
  expect(errorFeedback(Float64Array.of(1, 0, Infinity), sizes)).toBeUndefined();
  expect(errorFeedback(Float64Array.of(NaN, 0, 1), sizes)).toBeUndefined();
});
