import { expect, test } from 'vitest';
import { HostTensor } from './host-tensor.ts';
import { tensorDifference } from './tensor-difference.ts';

const floats = (...values: readonly number[]): HostTensor =>
  HostTensor.from('float32', [values.length], values);

test('the largest distance over the largest element that is expected, and its place', () => {
  expect(tensorDifference(floats(1, 2.5, 4), floats(1, 2, 4))).toEqual({
    relativeError: 0.5 / 4,
    element: 1,
    got: 2.5,
    expected: 2,
    nans: 0,
    infinities: 0,
  });
});

test.each([
  ['no number where one is expected', NaN, 1],
  ['a number where none is expected', 1, NaN],
  ['infinity where a number is expected', Infinity, 1],
  ['infinities of both signs', Infinity, -Infinity],
  ['no number where infinity is expected', NaN, Infinity],
])('is infinite: %s', (_, got, expected) => {
  const difference = tensorDifference(floats(1, got, 1), floats(1, expected, 1));
  expect(difference).toMatchObject({ relativeError: Infinity, element: 1, got, expected });
});

test('is none where both are no number, the same infinity, or zeros of either sign', () => {
  const got = floats(NaN, -Infinity, 0, 3);
  expect(tensorDifference(got, floats(NaN, -Infinity, -0, 3))).toMatchObject({
    relativeError: 0,
    nans: 1,
    infinities: 1,
  });
});

test('is infinite for truth values that differ', () => {
  const truth = (...values: readonly number[]) => HostTensor.from('bool', [2], values);
  expect(tensorDifference(truth(1, 0), truth(1, 1)).relativeError).toBe(Infinity);
  expect(tensorDifference(truth(1, 0), truth(1, 0)).relativeError).toBe(0);
});

test('counts an element of eight bytes and one of float16 by its value', () => {
  const wide = HostTensor.from('int64', [2], [3n, -4n]);
  expect(tensorDifference(wide, floats(3, -3)).relativeError).toBe(1 / 3);
  expect(
    tensorDifference(new HostTensor('float16', [1], Uint16Array.of(0x3800)), floats(0.5)),
  ).toMatchObject({
    relativeError: 0,
    got: 0.5,
  });
});

test('of nothing but zeros the distance itself counts', () => {
  expect(tensorDifference(floats(0, 0.25), floats(0, 0)).relativeError).toBe(0.25);
});
