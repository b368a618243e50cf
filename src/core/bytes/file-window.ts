import { FormatError } from '../errors.ts';

/** Bytes from `begin` to before `end` of a file. */
export type ReadRange = (begin: number, end: number) => Promise<Uint8Array>;

/** So much is read at once, at least: first, behind a part that was skipped, and where many parts follow each other. */
const [FIRST_BYTES, LEAST_BYTES, MOST_BYTES] = [2 ** 16, 2 ** 12, 2 ** 18];

/** A file of which small parts are looked at, one behind the other, with few reads. */
export class FileWindow {
  readonly byteLength: number;
  readByteLength = 0;
  reads = 0;
  readonly #read: ReadRange;
  #begin = 0;
  #bytes: Uint8Array = new Uint8Array();
  #windowBytes = FIRST_BYTES / 4;

  constructor(read: ReadRange, byteLength: number) {
    this.#read = read;
    this.byteLength = byteLength;
  }

  /** Fewer bytes where the file ends before. */
  async bytes(begin: number, end: number): Promise<Uint8Array> {
    const last = Math.min(end, this.byteLength);
    const known = this.#begin + this.#bytes.byteLength;
    if (begin < this.#begin || last > known) {
      const isNext = begin >= this.#begin && begin <= known;
      this.#windowBytes = isNext ? Math.min(4 * this.#windowBytes, MOST_BYTES) : LEAST_BYTES;
      this.#bytes = await this.#read(begin, Math.max(last, begin + this.#windowBytes));
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
