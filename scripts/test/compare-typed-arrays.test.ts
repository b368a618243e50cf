import { expect, test } from 'vitest';

// Vitest loads the comparison before each file (vite.config.ts).

test('typed arrays of a class are equal where their elements are, also inside of others', () => {
  expect(Uint8Array.of(1, 2)).toEqual(Uint8Array.of(1, 2));
  expect([Uint8Array.of(1, 2)]).not.toEqual([Uint8Array.of(1, 3)]);
  expect(Uint8Array.of(1, 2)).not.toEqual(Uint8Array.of(1, 2, 3));
  expect(Float32Array.of(NaN)).toEqual(Float32Array.of(NaN));
  expect(Float32Array.of(0)).not.toEqual(Float32Array.of(-0));
  expect({ x: BigInt64Array.of(1n) }).toStrictEqual({ x: BigInt64Array.of(1n) });
});

test('classes count as they do without it', () => {
  expect(Uint8Array.of(1)).not.toEqual(Uint16Array.of(1));
  expect(Buffer.of(1)).not.toEqual(Uint8Array.of(1));
  expect(Uint8Array.of(1)).not.toEqual([1]);
  expect(new DataView(Uint8Array.of(1).buffer)).toEqual(new DataView(Uint8Array.of(1).buffer));
});
