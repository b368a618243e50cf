import { FormatError } from '../errors.ts';

/** The one NaN of serialized numbers. */
export const CANONICAL_NAN = 0x7ff8_0000_0000_0000n;

// Both options matter: a byte order mark is part of the text, and bad UTF-8 is an error.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

interface ByteReaderOptions {
  /** The part that is read, for messages: `section constants`. */
  readonly where: string;
  /** Position of the first byte in the file, for messages. */
  readonly fileOffset?: number;
}

/**
 * Reads little-endian values from untrusted bytes. Every read is bounded; a count is never larger
 * than what the bytes that are left could hold. Throws FormatError with the position in the file.
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #where: string;
  readonly #fileOffset: number;
  #position = 0;

  constructor(bytes: Uint8Array, { where, fileOffset = 0 }: ByteReaderOptions) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#where = where;
    this.#fileOffset = fileOffset;
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  u8(what: string): number {
    return this.#view.getUint8(this.#take(1, what));
  }

  u16(what: string): number {
    return this.#view.getUint16(this.#take(2, what), true);
  }

  u32(what: string): number {
    return this.#view.getUint32(this.#take(4, what), true);
  }

  /** A signed 64-bit integer within the safe integers of JavaScript. */
  i64(what: string): number {
    const value = this.#view.getBigInt64(this.#take(8, what), true);
    const number = Number(value);
    if (!Number.isSafeInteger(number)) {
      throw this.error({ got: `${what} ${value}`, expected: 'an integer between -2^53 and 2^53' });
    }
    return number;
  }

  f64(what: string): number {
    const at = this.#take(8, what);
    const value = this.#view.getFloat64(at, true);
    if (Number.isNaN(value) && this.#view.getBigUint64(at, true) !== CANONICAL_NAN) {
      throw this.error({ got: `${what} with a NaN payload`, expected: 'the canonical NaN' });
    }
    return value;
  }

  /** Reads a byte that is 0 or 1. */
  bool(what: string): boolean {
    const value = this.u8(what);
    if (value > 1) throw this.error({ got: `${what} ${value}`, expected: '0 or 1' });
    return value === 1;
  }

  string(what: string): string {
    const byteLength = this.u32(`length of ${what}`);
    const at = this.#take(byteLength, what);
    try {
      return utf8.decode(this.#bytes.subarray(at, at + byteLength));
    } catch (cause) {
      throw this.error({ got: `${what} that is not UTF-8`, expected: 'UTF-8' }, cause);
    }
  }

  /** Reads bytes as a view, not a copy. */
  bytes(byteLength: number, what: string): Uint8Array {
    const at = this.#take(byteLength, what);
    return this.#bytes.subarray(at, at + byteLength);
  }

  /** A u32 count of items that take at least `itemByteLength` bytes each. */
  count(what: string, itemByteLength: number): number {
    const count = this.u32(`number of ${what}`);
    if (count * itemByteLength > this.remaining) {
      throw this.error({
        got: `${count} ${what}`,
        expected: `at most ${Math.floor(this.remaining / itemByteLength)}: ${this.remaining} bytes are left`,
        remedy: 'The file is damaged; fetch or write it again.',
      });
    }
    return count;
  }

  /** As many items as a count before them says; each takes at least `itemByteLength` bytes. */
  list<T>(what: string, itemByteLength: number, read: (index: number) => T): T[] {
    const count = this.count(what, itemByteLength);
    const items: T[] = [];
    for (let index = 0; index < count; index++) items.push(read(index));
    return items;
  }

  /** Checks that bytes up to the next multiple of `alignment` are zero, and skips them. */
  align(alignment: number): void {
    const padding = this.bytes(-this.#position & (alignment - 1), 'padding');
    if (padding.some((byte) => byte !== 0)) {
      throw this.error({ got: 'padding that is not zero', expected: 'zeros' });
    }
  }

  /** Checks that nothing is left. */
  end(): void {
    if (this.remaining === 0) return;
    throw this.error({ got: `${this.remaining} more bytes`, expected: 'the end' });
  }

  error(
    complaint: { got: string; expected: string; remedy?: string },
    cause?: unknown,
  ): FormatError {
    return new FormatError(
      { where: `${this.#where}, byte ${this.#fileOffset + this.#position}`, ...complaint },
      cause === undefined ? {} : { cause },
    );
  }

  #take(byteLength: number, what: string): number {
    const start = this.#position;
    if (byteLength > this.remaining) {
      throw this.error({
        got: `${this.remaining} bytes`,
        expected: `${byteLength} for the ${what}`,
        remedy: 'The file is truncated or damaged; fetch or write it again.',
      });
    }
    this.#position = start + byteLength;
    return start;
  }
}
