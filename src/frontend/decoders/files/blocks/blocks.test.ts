import { describe, expect, test } from 'vitest';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../../core/random.ts';
import { matmulNbitsReference } from '../../../../ops/quantization/quantization.reference.ts';
import { encodeElements, randomBlocks } from '../testing/encode-elements.ts';
import { GGML_DEQUANTIZE } from '../testing/ggml-dequantize.ts';
import { blockFormat, READABLE_TYPES } from './block-formats.ts';
import { decodeElements } from './decode-elements.ts';
import { repackBlocks } from './repack-blocks.ts';

const FORMATS = Object.keys(GGML_DEQUANTIZE);
const bits = (values: ArrayLike<number>): Uint32Array =>
  new Uint32Array(Float32Array.from(values).buffer);

function decoded(bytes: Uint8Array, type: string, count: number): Float32Array {
  return decodeElements(bytes, { type, count, where: 'test' });
}

function random(count: number, seed: number): Float32Array {
  const next = seededRandom(seed);
  return Float32Array.from({ length: count }, () => next() * 2 - 1);
}

test('every readable type is a float or has a second decoder here', () => {
  expect(READABLE_TYPES.filter((type) => !FORMATS.includes(type))).toEqual(['F32', 'F16', 'BF16']);
});

describe.each(FORMATS)('%s', (type) => {
  test('elements are those of ggml bit for bit', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const bytes = randomBlocks(type, 512, { seed, size: 2 ** (seed - 10) });
      expect(bits(decoded(bytes, type, 512))).toEqual(bits(GGML_DEQUANTIZE[type]?.(bytes) ?? []));
    }
  });

  test('what matmul_nbits makes of the repacked blocks are the same elements', () => {
    const format = blockFormat(type);
    if (format === undefined) throw new Error(`no blocks of ${type}`);
    const [rows, columns] = [3, 512];
    for (let seed = 1; seed <= 5; seed++) {
      const bytes = randomBlocks(type, rows * columns, { seed });
      // A group without a scale holds its minimum throughout.
      if (format.hasMinimums) bytes[4] = 0;
      const expected = decoded(bytes, type, rows * columns);
      const packed = repackBlocks(bytes, format);
      const actual = productWithIdentity(packed, rows, columns);
      // A sum of products has no negative zero.
      if (packed.zeros === undefined)
        expect(bits(actual)).toEqual(bits(expected.map((x) => x + 0)));
      else expectWithinRoundings(actual, expected, packed);
    }
  });
});

/** The elements that rows of codes stand for: their product with the identity. */
function productWithIdentity(
  { bits, blockSize, codes, scales, zeros }: ReturnType<typeof repackBlocks>,
  rows: number,
  columns: number,
): Float32Array {
  const blocks = columns / blockSize;
  const identity = HostTensor.zeros('float32', [columns, columns]);
  for (let i = 0; i < columns; i++) identity.elements[i * columns + i] = 1;
  const inputs = [
    identity,
    new HostTensor('uint8', [rows, blocks, (blockSize * bits) / 8], codes),
    new HostTensor('float32', [rows, blocks], scales),
    ...(zeros === undefined ? [] : [new HostTensor('float32', [rows, blocks], zeros)]),
  ];
  const output = HostTensor.zeros('float32', [columns, rows]);
  matmulNbitsReference.reference(inputs, { bits, block_size: blockSize }, output);
  return Float32Array.from({ length: rows * columns }, (_, i) =>
    Number(output.elements[(i % columns) * rows + Math.floor(i / columns)]),
  );
}

/** Elements may be apart by two roundings of the minimum of their group. */
function expectWithinRoundings(
  actual: Float32Array,
  expected: Float32Array,
  { blockSize, scales, zeros }: ReturnType<typeof repackBlocks>,
): void {
  const worst = actual.reduce((most, x, i) => {
    const at = Math.floor(i / blockSize);
    const minimum = Math.abs((scales[at] ?? 0) * (zeros?.[at] ?? 0));
    const size = Math.max(minimum, Math.abs(expected[i] ?? 0));
    return size === 0 ? most : Math.max(most, Math.abs(x - (expected[i] ?? 0)) / size);
  }, 0);
  expect(worst).toBeLessThanOrEqual(2 ** -23);
}

test('a group without a scale is exact', () => {
  const bytes = randomBlocks('Q4_K', 256);
  // The scale and the minimum of the first group: 0 and 63.
  bytes[4] = 0;
  bytes[8] = (bytes[8] ?? 0) | 63;
  const format = blockFormat('Q4_K');
  if (format === undefined) throw new Error('no Q4_K');
  const values = productWithIdentity(repackBlocks(bytes, format), 1, 256).subarray(0, 32);
  expect(values).toEqual(decoded(bytes, 'Q4_K', 256).subarray(0, 32));
  expect(new Set(values).size).toBe(1);
});

describe('elements that are encoded come back', () => {
  const values = random(256, 3);

  test('as they were where they are floats', () => {
    expect(decoded(encodeElements('F32', values), 'F32', 256)).toEqual(values);
    const nan = Uint8Array.of(1, 0, 0xc0, 0x7f);
    expect(new Uint8Array(decoded(nan, 'F32', 1).buffer)).toEqual(nan);
  });

  test.each([
    ['F16', 2 ** -11],
    ['BF16', 2 ** -8],
    ['Q8_0', 1 / 250],
    ['Q4_0', 1 / 7.9],
    ['Q4_1', 1 / 14],
    ['Q5_0', 1 / 15.8],
    ['Q5_1', 1 / 29],
    ['Q2_K', 1 / 2],
    ['Q3_K', 1 / 2.9],
    ['IQ4_NL', 1 / 7],
    ['IQ4_XS', 1 / 6],
    ['Q4_K', 1 / 11],
    ['Q5_K', 1 / 22],
    ['Q6_K', 1 / 45],
    ['MXFP4', 1 / 8],
  ])('within the steps of %s', (type, step) => {
    const back = decoded(encodeElements(type, values), type, 256);
    const worst = back.reduce((most, x, i) => Math.max(most, Math.abs(x - (values[i] ?? 0))), 0);
    expect(worst).toBeLessThanOrEqual(step);
    expect(worst).toBeGreaterThan(step / 16);
  });

  test('as the ends of float16 and bfloat16', () => {
    const halves = [0, 0x8000, 1, 0x3ff, 0x7bff, 0x7c00, 0xfc00];
    const bytes = new Uint8Array(Uint16Array.from(halves).buffer);
    expect([...decoded(bytes, 'F16', 7)]).toEqual([
      0,
      -0,
      2 ** -24,
      1023 * 2 ** -24,
      65504,
      Infinity,
      -Infinity,
    ]);
    expect([...decoded(bytes.subarray(0, 4), 'BF16', 2)]).toEqual([0, -0]);
  });
});

test('the largest scale of MXFP4 overflows as it does in ggml', () => {
  const bytes = Uint8Array.from([255, 7, ...new Uint8Array(15)]);
  expect(decoded(bytes, 'MXFP4', 32)[0]).toBe(Infinity);
  expect(GGML_DEQUANTIZE['MXFP4']?.(bytes)[0]).toBe(Infinity);
  const least = Uint8Array.from([0, 1, ...new Uint8Array(15)]);
  expect(decoded(least, 'MXFP4', 32)[0]).toBe(2 ** -128);
});

test('other bytes than the type takes, and unknown types, are refused', () => {
  expect(() => decoded(new Uint8Array(17), 'Q4_0', 32)).toThrow(
    'test: got 17 bytes, expected 18 of Q4_0.',
  );
  expect(() => decoded(new Uint8Array(64), 'IQ2_S', 32)).toThrow(
    'test: got elements of IQ2_S, expected one of F32, F16, BF16, Q4_0, Q4_1',
  );
});
