import { expect, test } from 'vitest';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { quantizedDifference } from './quantized-difference.ts';

const rows = (...values: number[]) => HostTensor.from('float32', [values.length / 4, 4], values);

const EXPECTED = rows(0, 50, 100, 20, 0, 1, 2, 3);

test('results within 3% of the range pass', () => {
  expect(quantizedDifference(rows(3, 47, 98, 20, 1, 1, 2, 3), EXPECTED)).toBeUndefined();
});

test('an element further off fails', () => {
  expect(quantizedDifference(rows(0, 50, 96.5, 20, 0, 1, 2, 3), EXPECTED)).toBe(
    'element 2 is 96.5, expected 100 within 3% of the range 100',
  );
});

test('NaN fails', () => {
  expect(quantizedDifference(rows(NaN, 50, 100, 20, 0, 1, 2, 3), EXPECTED)).toMatch(
    /^element 0 is NaN/,
  );
});

test('another largest class fails, however near', () => {
  expect(quantizedDifference(rows(0, 50, 100, 20, 0, 1, 3.5, 3), EXPECTED)).toBe(
    'the largest class of row 1 is 2, expected 3',
  );
});

test('of equal classes one has to be in common', () => {
  expect(quantizedDifference(rows(0, 50, 100, 20, 0, 1, 3, 3), EXPECTED)).toBeUndefined();
});

test('another shape fails', () => {
  expect(quantizedDifference(rows(0, 50, 100, 20), EXPECTED)).toBe('shape (1, 4), expected (2, 4)');
});
