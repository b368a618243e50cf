import { ByteReader } from '../../../core/bytes/byte-reader.ts';
import { FormatError } from '../../../core/errors.ts';
import { sniff } from '../../../core/bytes/sniff.ts';
import type { BytesNeeded, HeadOptions } from './bytes-needed.ts';

/** No vocabulary with its merges comes near; a file that claims a longer head is damaged or hostile. */
const MAX_HEAD_BYTES = 2 ** 28;

/** Elements of metadata: real files have a million and a half. Each becomes a number or an object. */
const MAX_ITEM_COUNT = 2 ** 22;

/** Fewer bytes do not say what a file is. */
const MAGIC_BYTE_LENGTH = 8;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Ends a reading of which more bytes have to be there first. */
class MoreBytes extends Error {
  readonly byteLength: number;

  constructor(byteLength: number) {
    super('internal: more bytes are needed');
    this.byteLength = byteLength;
  }
}

/**
 * Reads the head of a file of which the first bytes are there. Gives what `read` gives, or how many bytes
 * it needs; throws its FormatErrors.
 */
export function readHead<T>(
  bytes: Uint8Array,
  options: HeadOptions & { readonly format: string },
  read: (reader: HeadReader) => T,
): T | BytesNeeded {
  const found = bytes.byteLength < MAGIC_BYTE_LENGTH ? undefined : sniff(bytes);
  if (found !== undefined && found.what !== `a ${options.format}`) {
    const where = options.name ?? options.format;
    const { what, remedy } = found;
    throw new FormatError({ where, got: what, expected: `a ${options.format}`, remedy });
  }
  try {
    return read(new HeadReader(bytes, options));
  } catch (thrown) {
    if (!(thrown instanceof MoreBytes)) throw thrown;
    return { kind: 'bytes-needed', byteLength: thrown.byteLength };
  }
}

/** A {@link ByteReader} that asks for more bytes where the first ones of the file end. */
export class HeadReader {
  readonly #reader: ByteReader;
  readonly #end: number;
  #itemCount = 0;
  /** The name of the file in messages. */
  readonly where: string;
  /** Bytes of the whole file, where known. */
  readonly fileByteLength: number | undefined;

  constructor(
    bytes: Uint8Array,
    { format, name, fileByteLength }: HeadOptions & { readonly format: string },
  ) {
    this.where = name === undefined ? format : `${format} ${name}`;
    this.#reader = new ByteReader(bytes, { where: this.where });
    this.fileByteLength = fileByteLength;
    this.#end = Math.min(fileByteLength ?? MAX_HEAD_BYTES, MAX_HEAD_BYTES);
  }

  /** Bytes of the file before what is read next. */
  get position(): number {
    return this.#reader.position;
  }

  /** Claims bytes: all reads do, and whoever knows that a list takes at least so many. */
  claim(byteLength: number, what: string): void {
    const end = this.position + byteLength;
    if (end > this.#end) {
      throw this.error({
        got: `${what} of at least ${byteLength} bytes`,
        expected: `at most ${this.#end - this.position}, where the ${this.#end === this.fileByteLength ? 'file' : 'longest head'} ends`,
        remedy: 'The file is truncated or damaged; fetch or write it again.',
      });
    }
    if (byteLength > this.#reader.remaining) throw new MoreBytes(end);
  }

  u8(what: string): number {
    this.claim(1, what);
    return this.#reader.u8(what);
  }

  u32(what: string): number {
    this.claim(4, what);
    return this.#reader.u32(what);
  }

  /** An unsigned 64-bit integer below 2^53. */
  size(what: string): number {
    this.claim(8, what);
    const size = this.#reader.i64(what);
    if (size >= 0) return size;
    throw this.error({ got: `${what} ${size}`, expected: '0 or more' });
  }

  /** A count of items, each of which takes at least `itemByteLength` bytes, and the memory of `weight` elements. */
  count(what: string, itemByteLength: number, weight = 1): number {
    const count = this.size(`number of ${what}`);
    this.#itemCount += count * weight;
    if (this.#itemCount > MAX_ITEM_COUNT) {
      const expected = `at most ${MAX_ITEM_COUNT / weight}, with all before them`;
      const remedy = 'No model has so many; the file is damaged.';
      throw this.error({ got: `${count} ${what}`, expected, remedy });
    }
    this.claim(count * itemByteLength, `${count} ${what}`);
    return count;
  }

  /** The next bytes, as a view and not a copy. */
  bytes(byteLength: number, what: string): Uint8Array {
    this.claim(byteLength, what);
    return this.#reader.bytes(byteLength, what);
  }

  /** UTF-8 behind its length in 64 bits. */
  string(what: string): string {
    const length = this.size(`number of bytes of the ${what}`);
    this.claim(length, `${length} bytes of the ${what}`);
    return this.text(length, what);
  }

  /** UTF-8 of a length that is known. */
  text(byteLength: number, what: string): string {
    const bytes = this.bytes(byteLength, what);
    try {
      return utf8.decode(bytes);
    } catch (cause) {
      throw this.#reader.error({ got: `a ${what} that is not UTF-8`, expected: 'UTF-8' }, cause);
    }
  }

  error(complaint: { got: string; expected: string; remedy?: string }): FormatError {
    return this.#reader.error(complaint);
  }
}
