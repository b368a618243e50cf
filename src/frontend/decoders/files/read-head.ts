import { FormatError, UsageError } from '../../../core/errors.ts';
import type { BytesNeeded } from './bytes-needed.ts';

/** Reads bytes of a file, fewer at its end; undefined where there is no such file. */
type RangeReader = (begin: number, end: number) => Promise<Uint8Array | undefined>;

/** The first read of a head, and the least by which the next is longer. */
const HEAD_BYTES = 2 ** 20;

/** Reads as much of the begin of a file as its head needs. `name` is for messages. */
export async function readHeadOf<Head extends { readonly kind: string }>(
  name: string,
  read: RangeReader,
  parse: (bytes: Uint8Array) => Head | BytesNeeded,
): Promise<Head> {
  for (let length = HEAD_BYTES; ; ) {
    const bytes = await read(0, length);
    if (bytes === undefined) {
      throw new UsageError({ where: name, got: 'no such file', expected: 'a file of the model' });
    }
    const head = parse(bytes);
    if (!isBytesNeeded(head)) return head;
    if (bytes.byteLength < length) {
      const expected = `at least ${head.byteLength}`;
      throw new FormatError({ where: name, got: `${bytes.byteLength} bytes`, expected });
    }
    length = Math.max(head.byteLength, 2 * length);
  }
}

const isBytesNeeded = (head: { readonly kind: string }): head is BytesNeeded =>
  head.kind === 'bytes-needed';
