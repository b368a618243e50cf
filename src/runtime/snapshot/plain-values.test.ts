import { expect, test } from 'vitest';
import { ByteReader } from '../../core/bytes/byte-reader.ts';
import { ByteWriter } from '../../core/bytes/byte-writer.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { readView } from './value-reader.ts';

/** Reads a float32 view of memory of 32 bytes. */
function viewOf(byteOffset: number, shape: readonly number[]) {
  const w = new ByteWriter();
  w.i64(byteOffset).u8(dtypeInfo('float32').code).u32(shape.length);
  for (const dim of shape) w.i64(dim);
  return readView(new ByteReader(w.finish(), { where: 'values' }), 32);
}

test('a view that ends where its memory does is read', () => {
  expect(viewOf(8, [2, 3])).toEqual({ byteOffset: 8, dtype: 'float32', shape: [2, 3] });
});

test.each([
  ['that ends behind its memory', 12, [2, 3], 'a tensor up to byte 36'],
  ['of more elements than numbers count', 0, [2 ** 30, 2 ** 30], 'a tensor up to byte 33'],
  ['that begins before its memory', -4, [2], 'a tensor up to byte 4'],
  ['that begins within a word', 2, [2], 'a tensor up to byte 10'],
] as const)('a view %s is refused', (_, byteOffset, shape, got) => {
  expect(() => viewOf(byteOffset, shape)).toThrow(
    `values, byte ${13 + 8 * shape.length}: got ${got}, expected an end within 32 bytes.`,
  );
});
