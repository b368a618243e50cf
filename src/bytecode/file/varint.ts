import type { ByteReader } from '../../core/bytes/byte-reader.ts';
import type { ByteWriter } from '../../core/bytes/byte-writer.ts';

/** Writes an integer from 0 to 2^32 - 1 in groups of 7 bits, the lowest first, as few as it needs. */
export function writeVarint(w: ByteWriter, value: number): ByteWriter {
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) w.u8((rest % 0x80) | 0x80);
  return w.u8(rest);
}

/** Reads what {@link writeVarint} writes. Throws FormatError for more bytes than a number needs. */
export function readVarint(r: ByteReader, what: string): number {
  let value = 0;
  for (let factor = 1; ; factor *= 0x80) {
    const byte = r.u8(what);
    value += (byte & 0x7f) * factor;
    const isLong = value > 0xffff_ffff || (byte === 0 && factor > 1);
    if (isLong) throw r.error({ got: `a ${what} of too many bytes`, expected: 'a 32-bit one' });
    if (byte < 0x80) return value;
  }
}

/** Reads a varint count and as many items, which take at least `itemByteLength` bytes each. */
export function readShortList<T>(
  r: ByteReader,
  { what, itemByteLength }: { readonly what: string; readonly itemByteLength: number },
  read: (index: number) => T,
): T[] {
  const length = readVarint(r, `number of ${what}`);
  const most = Math.floor(r.remaining / itemByteLength);
  if (length > most) throw r.error({ got: `${length} ${what}`, expected: `at most ${most}` });
  return Array.from({ length }, (_, index) => read(index));
}

/** Numbers of both signs as numbers from 0: small ones stay small. */
export function zigzag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}

/** The inverse of {@link zigzag}. */
export function unzigzag(value: number): number {
  return (value >>> 1) ^ -(value & 1);
}
