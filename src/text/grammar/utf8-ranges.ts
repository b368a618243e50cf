import type { CodePointSet } from './code-points.ts';

/** Bytes from the first to the last, both included. */
export type ByteRange = readonly [first: number, last: number];

/** The last code points of one, two, three and four bytes. */
const LAST_OF_LENGTH = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/**
 * The UTF-8 of a set of code points as sequences of byte ranges: a text is one character of the set
 * exactly when its bytes lie in the ranges of one sequence. As in Rust's `utf8-ranges`.
 */
export function utf8Ranges(set: CodePointSet): ByteRange[][] {
  const sequences: ByteRange[][] = [];
  for (const [first, last] of set) {
    let from = 0;
    for (const lastOfLength of LAST_OF_LENGTH) {
      if (first <= lastOfLength && last >= from) {
        split(Math.max(first, from), Math.min(last, lastOfLength), sequences);
      }
      from = lastOfLength + 1;
    }
  }
  return sequences;
}

/** Splits a range of characters of one length where a byte would not have all values behind it. */
function split(first: number, last: number, sequences: ByteRange[][]): void {
  for (const bits of [6, 12, 18]) {
    const mask = (1 << bits) - 1;
    if (last <= 0x7f || (first & ~mask) === (last & ~mask)) continue;
    const middle =
      (first & mask) !== 0 ? first | mask : (last & mask) !== mask ? (last & ~mask) - 1 : undefined;
    if (middle === undefined) continue;
    split(first, middle, sequences);
    split(middle + 1, last, sequences);
    return;
  }
  const ends = encode(last);
  sequences.push(encode(first).map((byte, i) => [byte, ends[i] ?? byte]));
}

function encode(codePoint: number): number[] {
  const length = LAST_OF_LENGTH.findIndex((last) => codePoint <= last) + 1;
  if (length === 1) return [codePoint];
  const bytes: number[] = [];
  for (let shift = 6 * (length - 1); shift >= 0; shift -= 6) {
    bytes.push(0x80 | ((codePoint >> shift) & 0x3f));
  }
  // The lead byte: as many ones as there are bytes, then a zero.
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | ((0xf00 >> length) & 0xff);
  return bytes;
}
