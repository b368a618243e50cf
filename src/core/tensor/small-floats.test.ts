import { expect, test } from 'vitest';
import { float16ToNumber, numberToFloat16 } from './float16.ts';
import { numberToSmallFloat, smallFloatToNumber } from './small-floats.ts';

const SATURATE = { saturate: true, roundMode: 'up' };
const OVERFLOW = { saturate: false, roundMode: 'down' };
const FORMATS = [
  ['bfloat16', 65_536],
  ['float8e4m3fn', 256],
  ['float8e4m3fnuz', 256],
  ['float8e5m2', 256],
  ['float8e5m2fnuz', 256],
  ['float8e8m0', 256],
  ['float4e2m1', 16],
] as const;

test.each(FORMATS)('every value of %s survives the way to a number and back', (dtype, count) => {
  for (let bits = 0; bits < count; bits++) {
    const value = smallFloatToNumber(dtype, bits);
    const back = numberToSmallFloat(dtype, value, OVERFLOW);
    if (Number.isNaN(value)) expect(smallFloatToNumber(dtype, back)).toBeNaN();
    else if (back !== bits) expect.fail(`${bits} (${value}) came back as ${back}`);
  }
});

test('float16 is what float16.ts makes of it', () => {
  for (let bits = 0; bits < 65_536; bits++) {
    expect(smallFloatToNumber('float16', bits)).toBe(float16ToNumber(bits));
  }
  for (const value of [65_519, 65_520, -1e9, 2 ** -25, 3 * 2 ** -26, 1 + 2 ** -11, 0.1]) {
    expect(numberToSmallFloat('float16', value, SATURATE)).toBe(numberToFloat16(value));
  }
});

test.each([
  ['bfloat16', 0x3f80, 1],
  ['float8e4m3fn', 0x7e, 448],
  ['float8e4m3fn', 0x01, 2 ** -9],
  ['float8e4m3fn', 0xff, Number.NaN],
  ['float8e4m3fnuz', 0x7f, 240],
  ['float8e4m3fnuz', 0x80, Number.NaN],
  ['float8e5m2', 0x7b, 57_344],
  ['float8e5m2', 0xfc, -Infinity],
  ['float8e5m2', 0x7d, Number.NaN],
  ['float8e5m2fnuz', 0x7f, 57_344],
  ['float8e8m0', 0, 2 ** -127],
  ['float8e8m0', 0xff, Number.NaN],
  ['float4e2m1', 7, 6],
  ['float4e2m1', 9, -0.5],
] as const)('%s of bits %i is %d', (dtype, bits, value) => {
  expect(smallFloatToNumber(dtype, bits)).toBe(value);
});

test.each([
  ['float8e4m3fn', 464, 0x7e, 0x7e],
  ['float8e4m3fn', 500, 0x7e, 0x7f],
  ['float8e4m3fn', -Infinity, 0xfe, 0xff],
  ['float8e4m3fnuz', -300, 0xff, 0x80],
  ['float8e4m3fnuz', -0, 0, 0],
  ['float8e5m2', 1e6, 0x7b, 0x7c],
  ['float8e5m2fnuz', -1e6, 0xff, 0x80],
  ['float4e2m1', -100, 0xf, 0xf],
  ['float4e2m1', 2.5, 4, 4],
] as const)('%s of %d saturates to %i or overflows to %i', (dtype, value, saturated, overflown) => {
  expect(numberToSmallFloat(dtype, value, SATURATE)).toBe(saturated);
  expect(numberToSmallFloat(dtype, value, OVERFLOW)).toBe(overflown);
});

test('float8e8m0 takes the power of two that the mode says', () => {
  const exponents = (value: number) =>
    ['up', 'nearest', 'down'].map(
      (roundMode) => numberToSmallFloat('float8e8m0', value, { saturate: true, roundMode }) - 127,
    );
  expect(exponents(1)).toEqual([0, 0, 0]);
  expect(exponents(1.4)).toEqual([1, 0, 0]);
  expect(exponents(1.5)).toEqual([1, 1, 0]);
  expect(exponents(3.4e38)).toEqual([127, 127, 127]);
  expect(exponents(Infinity)).toEqual([128, 128, 128]);
});
