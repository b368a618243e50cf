import { describe, expect, test } from 'vitest';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { FormatError } from '../errors.ts';

const reader = (bytes: Uint8Array): ByteReader =>
  new ByteReader(bytes, { where: 'section test', fileOffset: 100 });

describe('ByteReader reads what ByteWriter wrote', () => {
  test('numbers, strings and padding', () => {
    const writer = new ByteWriter()
      .u8(255)
      .u16(65_535)
      .u32(2 ** 32 - 1);
    writer.i64(Number.MIN_SAFE_INTEGER).f64(-0).f64(Number.NaN).f64(-Infinity);
    writer.string('\ufeffé😀').align(16).u8(1);
    const r = reader(writer.finish());
    expect([r.u8('a'), r.u16('b'), r.u32('c')]).toEqual([255, 65_535, 2 ** 32 - 1]);
    expect(r.i64('d')).toBe(Number.MIN_SAFE_INTEGER);
    expect([r.f64('e'), r.f64('f'), r.f64('g')]).toEqual([-0, Number.NaN, -Infinity]);
    expect(r.string('h')).toBe('\ufeffé😀');
    r.align(16);
    expect(r.bool('i')).toBe(true);
    r.end();
  });

  test('buffers larger than the first one', () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => i);
    const writer = new ByteWriter().u8(9).bytes(bytes);
    writer.patch(0, Uint8Array.of(7));
    expect(writer.byteLength).toBe(5001);
    expect(reader(writer.finish().subarray(1)).bytes(5000, 'x')).toEqual(bytes);
    expect(writer.finish()[0]).toBe(7);
    expect(() => writer.patch(5001, Uint8Array.of(1))).toThrow('patch beyond the end');
  });
});

describe('ByteReader refuses', () => {
  const refusals: [string, (r: ByteReader) => unknown, number[], string][] = [
    [
      'a cut number',
      (r) => r.u32('size'),
      [1, 2],
      'got 2 bytes, expected 4 for the size. The file is truncated',
    ],
    [
      'a cut string',
      (r) => r.string('name'),
      [9, 0, 0, 0, 65],
      'got 1 bytes, expected 9 for the name',
    ],
    ['bad UTF-8', (r) => r.string('name'), [1, 0, 0, 0, 0xff], 'got name that is not UTF-8'],
    ['a large integer', (r) => r.i64('n'), [0, 0, 0, 0, 0, 0, 32, 0], 'got n 9007199254740992'],
    [
      'a NaN with a payload',
      (r) => r.f64('x'),
      [1, 0, 0, 0, 0, 0, 0xf8, 0x7f],
      'got x with a NaN payload',
    ],
    ['a bool of 2', (r) => r.bool('flag'), [2], 'got flag 2, expected 0 or 1'],
    [
      'a large count',
      (r) => r.count('items', 4),
      [2, 0, 0, 0, 1],
      'got 2 items, expected at most 0: 1 bytes are left',
    ],
    [
      'a list of 2^32 - 1',
      (r) => r.list('items', 1, () => 0),
      [255, 255, 255, 255],
      'got 4294967295 items',
    ],
    ['padding', (r) => [r.u8('x'), r.align(4)], [1, 0, 0, 1], 'got padding that is not zero'],
    ['missing padding', (r) => [r.u8('x'), r.align(4)], [1, 0], 'expected 3 for the padding'],
    ['more bytes', (r) => r.end(), [1], 'got 1 more bytes, expected the end'],
  ];

  test.each(refusals)('%s', (_, read, bytes, part) => {
    const attempt = (): unknown => read(reader(Uint8Array.from(bytes)));
    expect(attempt).toThrow(FormatError);
    expect(attempt).toThrow(/^section test, byte 10\d: /);
    expect(attempt).toThrow(part);
  });
});

test('ByteWriter refuses numbers out of range', () => {
  expect(() => new ByteWriter().u8(256)).toThrow('256 is not an integer from 0 to 255');
  expect(() => new ByteWriter().u16(-1)).toThrow('-1 is not an integer');
  expect(() => new ByteWriter().u32(0.5)).toThrow('0.5 is not an integer');
  expect(() => new ByteWriter().i64(2 ** 53)).toThrow('is not a safe integer');
});
