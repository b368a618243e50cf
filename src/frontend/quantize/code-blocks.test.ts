import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../core/random.ts';
import { codeBlocks } from './code-blocks.ts';
import { type BlockCodes, decodeBlocks } from './decode-blocks.ts';
import { codeChannels, decodeChannels } from './channel-codes.ts';

function normal(count: number, seed: number): Float32Array {
  const random = seededRandom(seed);
  return Float32Array.from({ length: count }, () => {
    return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  });
}

/** Row by row, bit by bit, as the documentation of MatMulNBits says where each code lies. */
function plainDecode({ bits, blockSize, columns, codes, scales, zeros }: BlockCodes): number[] {
  const blocks = Math.ceil(columns / blockSize);
  const bitsAt = (bytes: Uint8Array, bit: number): number => {
    let code = 0;
    for (let i = 0; i < bits; i++) {
      const at = bit + i;
      code |= (((bytes[Math.floor(at / 8)] ?? 0) >> (at % 8)) & 1) << i;
    }
    return code;
  };
  const values: number[] = [];
  for (let row = 0; row * blocks < scales.length; row++) {
    const rowOfZeros = Math.ceil((blocks * bits) / 8);
    for (let k = 0; k < columns; k++) {
      const block = row * blocks + Math.floor(k / blockSize);
      const code = bitsAt(codes, (block * blockSize + (k % blockSize)) * bits);
      const zero = zeros
        ? bitsAt(zeros, row * rowOfZeros * 8 + Math.floor(k / blockSize) * bits)
        : 2 ** (bits - 1);
      values.push(Math.fround((code - zero) * (scales[block] ?? 0)));
    }
  }
  return values;
}

const exact = { roundScale: Math.fround };

describe.each([4, 8] as const)('%s bits', (bits) => {
  test.each([
    [64, 32, true],
    [64, 16, false],
    [70, 32, true],
    [70, 32, false],
    [5, 16, false],
    [130, 64, false],
  ])('rows of %s in blocks of %s, symmetric: %s', (columns, blockSize, isSymmetric) => {
    const rows = 3;
    const values = normal(rows * columns, columns + blockSize);
    const coded = codeBlocks(values, columns, { bits, blockSize, isSymmetric, ...exact });
    const blocks = Math.ceil(columns / blockSize);
    expect(coded.codes.length).toBe((rows * blocks * blockSize * bits) / 8);
    expect(coded.zeros?.length).toBe(
      isSymmetric ? undefined : rows * Math.ceil((blocks * bits) / 8),
    );
    const decoded = decodeBlocks(coded);
    expect(Array.from(decoded)).toEqual(plainDecode(coded));
    // No element is farther than the range of its block over the codes; with 8 bits half of a step.
    for (const [i, value] of values.entries()) {
      const block = Math.floor(i / columns) * blocks + Math.floor((i % columns) / blockSize);
      const step = Math.abs(coded.scales[block] ?? 0);
      const far = Math.abs(value - (decoded[i] ?? 0));
      expect(far).toBeLessThanOrEqual(step * (bits === 8 ? 1.01 : 4));
    }
  });
});

test('zero is zero, also in blocks whose elements are all positive', () => {
  const values = Float32Array.from({ length: 32 }, (_, i) => (i % 3 === 0 ? 0 : 1 + i));
  for (const isSymmetric of [true, false]) {
    const coded = codeBlocks(values, 32, { bits: 4, blockSize: 32, isSymmetric, ...exact });
    const decoded = decodeBlocks(coded);
    for (let i = 0; i < 32; i += 3) expect(Math.abs(decoded[i] ?? 1)).toBe(0);
  }
  const nothing = codeBlocks(new Float32Array(20), 20, {
    bits: 4,
    blockSize: 16,
    isSymmetric: false,
    ...exact,
  });
  expect(decodeBlocks(nothing)).toEqual(new Float32Array(20));
});

test('scales that were tried move weights of 4 bits less than the whole range does', () => {
  const values = normal(32 * 200, 5);
  const squares = (decoded: Float32Array): number =>
    values.reduce((sum, value, i) => sum + (value - (decoded[i] ?? 0)) ** 2, 0);
  const format = { bits: 4, blockSize: 32, isSymmetric: false, ...exact } as const;
  const tried = squares(decodeBlocks(codeBlocks(values, 32, format)));
  // The same with the scale and the zero point of the least and the largest element.
  const plain = Float32Array.from(values, (value, i) => {
    const block = values.subarray(i - (i % 32), i - (i % 32) + 32);
    const [least, most] = [Math.min(0, ...block), Math.max(0, ...block)];
    const scale = (most - least) / 15;
    const zero = Math.round(-least / scale);
    return (Math.max(0, Math.min(15, Math.round(value / scale) + zero)) - zero) * scale;
  });
  expect(tried).toBeLessThan(0.95 * squares(plain));
});

test('scales are rounded before codes are chosen', () => {
  const roundScale = (scale: number): number => 2 ** Math.ceil(Math.log2(scale));
  const coded = codeBlocks(normal(32, 1), 32, {
    bits: 8,
    blockSize: 32,
    isSymmetric: false,
    roundScale,
  });
  expect(Number.isInteger(Math.log2(coded.scales[0] ?? 0))).toBe(true);
});

test('channels of int8 along each axis', () => {
  const shape = [2, 3, 4];
  const values = normal(24, 3);
  for (const axis of [0, 1, 2]) {
    const coded = codeChannels(values, { shape, axis, cancels: false, ...exact });
    expect(coded.scales.length).toBe(shape[axis]);
    const decoded = decodeChannels(coded, { shape, axis });
    for (const [i, value] of values.entries()) {
      const at = [Math.floor(i / 12), Math.floor(i / 4) % 3, i % 4][axis] ?? 0;
      expect(Math.abs(value - (decoded[i] ?? 0))).toBeLessThanOrEqual(
        (coded.scales[at] ?? 0) * 0.501,
      );
    }
    expect(Math.max(...coded.codes.map(Math.abs))).toBe(127);
  }
  const zeros = codeChannels(new Float32Array(4), {
    shape: [2, 2],
    axis: 0,
    cancels: true,
    ...exact,
  });
  expect([...zeros.scales]).toEqual([1, 1]);
});

test('errors of int8 cancel out in each channel, and nearly so in each kernel', () => {
  const shape = [5, 6, 3, 3];
  const values = normal(270, 11).map((value) => value + 0.3);
  const coded = codeChannels(values, { shape, axis: 0, cancels: true, ...exact });
  const errors = Array.from(
    coded.codes,
    (code, i) => code - (values[i] ?? 0) / (coded.scales[Math.floor(i / 54)] ?? 1),
  );
  const sums = (length: number): number[] =>
    Array.from({ length: 270 / length }, (_, part) =>
      Math.abs(errors.slice(part * length, (part + 1) * length).reduce((a, b) => a + b, 0)),
    );
  expect(Math.max(...sums(54))).toBeLessThanOrEqual(0.5001);
  expect(Math.max(...sums(9))).toBeLessThanOrEqual(1.5001);
  // Rounding to the nearest would leave more than that.
  const nearest = errors.map((error) => error - Math.round(error));
  const plain = (begin: number): number =>
    Math.abs(nearest.slice(begin, begin + 54).reduce((a, b) => a + b, 0));
  expect(Math.max(...[0, 54, 108, 162, 216].map(plain))).toBeGreaterThan(1);
});
