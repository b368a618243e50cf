import { expect } from 'vitest';
import { firstDifference } from '../../../core/tensor/all-close.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import type { NodeInput } from './describe-nodes.ts';

// Values of tests that say what an operator means as formulas of places.

const TOLERANCE = { rtol: 1e-4, atol: 1e-4 };

export function expectClose(actual: HostTensor | undefined, expected: HostTensor): void {
  expect(actual === undefined ? 'no output' : firstDifference(actual, expected, TOLERANCE)).toBe(
    undefined,
  );
}

/** A tensor of what a function says of each place. */
export function tensor(
  shape: readonly number[],
  valueAt: (...coords: number[]) => number,
): HostTensor {
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const count = shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: count }, (_, i) =>
    valueAt(...shape.map((size, axis) => Math.floor(i / (strides[axis] ?? 1)) % size)),
  );
  return HostTensor.from('float32', shape, values);
}

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
export const sum = (count: number, term: (i: number) => number): number =>
  range(count).reduce((total, i) => total + term(i), 0);
export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
export const ofInts = (
  dtype: DType,
  shape: readonly number[],
  values: readonly number[],
): NodeInput => ({
  tensor: HostTensor.from(dtype, shape, values),
  shape,
});
