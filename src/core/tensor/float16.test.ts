import { expect, test } from 'vitest';
import { float16ToNumber, numberToFloat16 } from './float16.ts';

test('every binary16 value survives the way to a number and back', () => {
  for (let bits = 0; bits < 65536; bits++) {
    const value = float16ToNumber(bits);
    const back = numberToFloat16(value);
    if (Number.isNaN(value)) expect(back & 0x7fff).toBe(0x7e00);
    else if (back !== bits) expect.fail(`${bits} (${value}) came back as ${back}`);
  }
});

test('halfway values go to the even neighbour, large ones to infinity', () => {
  expect(float16ToNumber(numberToFloat16(1 + 1 / 2048))).toBe(1);
  expect(float16ToNumber(numberToFloat16(1 + 3 / 2048))).toBe(1 + 2 / 1024);
  expect(float16ToNumber(numberToFloat16(2 - 2 ** -12))).toBe(2);
  expect(float16ToNumber(numberToFloat16(2 ** -25))).toBe(0);
  expect(float16ToNumber(numberToFloat16(65519))).toBe(65504);
  expect(float16ToNumber(numberToFloat16(65520))).toBe(Infinity);
  expect(numberToFloat16(-0)).toBe(0x8000);
});
