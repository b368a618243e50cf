import { describe, expect, test } from 'vitest';
import { sizeClass } from './size-class.ts';

const MIB = 1024 * 1024;

describe('sizeClass', () => {
  test.each([
    [0, 256],
    [1, 256],
    [256, 256],
    [257, 512],
    [1000, 1024],
    [1025, 1280],
    [5000, 5120],
    [MIB + 1, 1.25 * MIB],
    [100 * MIB + 1, 104 * MIB],
    [1024 * MIB, 1024 * MIB],
  ])('%i bytes take %i', (byteLength, capacity) => {
    expect(sizeClass(byteLength, 2 ** 40)).toBe(capacity);
  });

  test('a class never exceeds the limit of the device', () => {
    expect(sizeClass(90, 100)).toBe(256);
    expect(sizeClass(1100, 1200)).toBe(1200);
    expect(sizeClass(1200, 1202)).toBe(1200);
  });

  test('waste is at most a quarter of the request and 8 MiB', () => {
    for (let size = 1024; size < 2 ** 31; size = Math.ceil(size * 1.037)) {
      const waste = sizeClass(size, 2 ** 40) - size;
      expect(waste).toBeGreaterThanOrEqual(0);
      expect(waste).toBeLessThanOrEqual(Math.min(size / 4, 8 * MIB));
    }
  });
});
