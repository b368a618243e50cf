import { CANONICAL_NAN } from './byte-reader.ts';

const utf8 = new TextEncoder();

/** Appends little-endian values to a buffer that grows. Throws RangeError on numbers out of range. */
export class ByteWriter {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  get byteLength(): number {
    return this.#length;
  }

  u8(value: number): this {
    checkUnsigned(value, 0xff);
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
    return this;
  }

  u16(value: number): this {
    checkUnsigned(value, 0xffff);
    const at = this.#grow(2);
    this.#view.setUint16(at, value, true);
    return this;
  }

  u32(value: number): this {
    checkUnsigned(value, 0xffff_ffff);
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  /** 64 bits; the value is a safe integer. */
  i64(value: number): this {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a safe integer`);
    const at = this.#grow(8);
    this.#view.setBigInt64(at, BigInt(value), true);
    return this;
  }

  /** 64 bits. Every NaN is written with the same bits, so that equal programs have equal bytes. */
  f64(value: number): this {
    const at = this.#grow(8);
    if (Number.isNaN(value)) this.#view.setBigUint64(at, CANONICAL_NAN, true);
    else this.#view.setFloat64(at, value, true);
    return this;
  }

  /** A u32 byte length, then UTF-8. */
  string(value: string): this {
    const bytes = utf8.encode(value);
    return this.u32(bytes.length).bytes(bytes);
  }

  bytes(bytes: Uint8Array): this {
    const at = this.#grow(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  /** Zeros up to the next multiple of `alignment`. */
  align(alignment: number): this {
    this.#grow(-this.#length & (alignment - 1));
    return this;
  }

  /** Overwrites bytes that were written before. */
  patch(byteOffset: number, bytes: Uint8Array): this {
    if (byteOffset + bytes.length > this.#length) throw new RangeError('patch beyond the end');
    this.#bytes.set(bytes, byteOffset);
    return this;
  }

  /** The bytes written so far; a copy. */
  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  /** The offset of so many new bytes. Replaces the buffer and its view: call it before using either. */
  #grow(byteLength: number): number {
    const start = this.#length;
    const end = start + byteLength;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#bytes.length));
      larger.set(this.#bytes.subarray(0, start));
      this.#bytes = larger;
      this.#view = new DataView(larger.buffer);
    }
    this.#length = end;
    return start;
  }
}

function checkUnsigned(value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new RangeError(`${value} is not an integer from 0 to ${max}`);
  }
}
