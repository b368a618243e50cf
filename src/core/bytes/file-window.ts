import { FormatError } from '../errors.ts';

/** Bytes from `begin` to before `end` of a file. */
export type ReadRange = (begin: number, end: number) => Promise<Uint8Array>;

/** So much is read at once, at least. */
const WINDOW_BYTES = 2 ** 16;

/** A file of which small parts are looked at, one behind the other, with few reads. */
export class FileWindow {
  readonly byteLength: number;
  /** How many bytes were read. */
  readByteLength = 0;
  /** How many reads there were. */
  reads = 0;
  readonly #read: ReadRange;
  #begin = 0;
  #bytes: Uint8Array = new Uint8Array();

  constructor(read: ReadRange, byteLength: number) {
    this.#read = read;
    this.byteLength = byteLength;
  }

  /** Fewer bytes where the file ends before. */
  async bytes(begin: number, end: number): Promise<Uint8Array> {
    const last = Math.min(end, this.byteLength);
    if (begin < this.#begin || last > this.#begin + this.#bytes.byteLength) {
      this.#bytes = await this.#read(begin, Math.max(last, begin + WINDOW_BYTES));
      this.#begin = begin;
      this.readByteLength += this.#bytes.byteLength;
      this.reads++;
    }
    return this.#bytes.subarray(begin - this.#begin, last - this.#begin);
  }

  /**
   * Reads as `bytes` does, but always the whole range. Throws FormatError where the file ends
   * before.
   */
  async exactly(begin: number, end: number): Promise<Uint8Array> {
    const bytes = await this.bytes(begin, end);
    if (bytes.byteLength === end - begin) return bytes;
    throw new FormatError({
      where: 'the file',
      got: `${this.byteLength} bytes`,
      expected: `at least ${end}`,
      remedy: 'The file is truncated or damaged; fetch or write it again.',
    });
  }
}
