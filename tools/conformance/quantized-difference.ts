import type { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { formatShape, sameShape } from '../../src/core/tensor/shape.ts';

/** The part of the range of the expected values that an element may be off by. */
export const SHARE_OF_RANGE = 0.03;

/**
 * Compares float results of a model that quantises values on the way. Where a value lies half way
 * between two integers, the last place of a sum decides, and what follows differs by whole steps. So
 * each element has to be within 3% of the range of the expected ones, and in each row of the last
 * axis the largest class has to be the same. Undefined when it is so, else one line that says where
 * not.
 */
export function quantizedDifference(actual: HostTensor, expected: HostTensor): string | undefined {
  if (actual.dtype !== expected.dtype) return `dtype ${actual.dtype}, expected ${expected.dtype}`;
  if (!sameShape(actual.shape, expected.shape)) {
    return `shape ${formatShape(actual.shape)}, expected ${formatShape(expected.shape)}`;
  }
  const [a, e] = [Array.from(actual.data, Number), Array.from(expected.data, Number)];
  const range = greatest(e) + greatest(e.map((value) => -value));
  const errors = e.map((value, i) => Math.abs((a[i] ?? 0) - value));
  // NaN is not within.
  const index = errors.findIndex((error) => !(error <= SHARE_OF_RANGE * range));
  if (index >= 0) {
    const share = SHARE_OF_RANGE * 100;
    return `element ${index} is ${a[index]}, expected ${e[index]} within ${share}% of the range ${range}`;
  }
  return classDifference(a, e, expected.shape.at(-1) ?? 1);
}

function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), -Infinity);
}

/** Steps are coarse, so that several classes may be the largest: one of them has to be in common. */
function classDifference(
  actual: readonly number[],
  expected: readonly number[],
  classes: number,
): string | undefined {
  for (let start = 0; start < expected.length; start += classes) {
    const [a, e] = [actual, expected].map((values) =>
      largest(values.slice(start, start + classes)),
    );
    if (e?.some((index) => a?.includes(index)) !== true) {
      return `the largest class of row ${start / classes} is ${a?.join()}, expected ${e?.join()}`;
    }
  }
  return undefined;
}

function largest(row: readonly number[]): number[] {
  const most = greatest(row);
  return [...row.keys()].filter((index) => row[index] === most);
}
