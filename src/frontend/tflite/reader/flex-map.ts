import { countWork } from '../../../core/limits/work-meter.ts';
import { FormatError } from '../../../core/errors.ts';

/** Codes of FlexBuffers' types. */
const [INT, UINT, FLOAT, INDIRECT_INT, INDIRECT_FLOAT] = [1, 2, 3, 6, 8];
const [MAP, VECTOR, VECTOR_INT, VECTOR_FLOAT, BOOL] = [9, 10, 11, 13, 26];
/** Vectors of two, three and four numbers, which do not tell their length. */
const [FIRST_FIXED, LAST_FIXED] = [16, 24];

/** Numbers and lists of numbers by name. */
export type FlexMap = ReadonlyMap<string, number | readonly number[]>;

/**
 * The numbers of a map in FlexBuffers, as custom operators have them for options; other values are left out. Throws
 * FormatError for an offset out of bounds.
 */
export function readFlexMap(bytes: Uint8Array, where: string): FlexMap {
  return new FlexReader(bytes, where).root();
}

class FlexReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #where: string;

  constructor(bytes: Uint8Array, where: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#where = where;
  }

  root(): FlexMap {
    const end = this.#bytes.byteLength;
    const [packed = 0, width = 0] = [this.#bytes[end - 2], this.#bytes[end - 1]];
    if (end < 3 || packed >> 2 !== MAP) throw this.#broken('options that are no map');
    const child = 1 << (packed & 3);
    const at = this.#target(end - 2 - width, width);
    const size = this.#uint(at - child, child);
    const keysAt = this.#target(at - 3 * child, child);
    const keyWidth = this.#uint(at - 2 * child, child);
    const map = new Map<string, number | readonly number[]>();
    for (let i = 0; i < size; i++) {
      countWork(1);
      const key = this.#key(this.#target(keysAt + i * keyWidth, keyWidth));
      const type = this.#uint(at + size * child + i, 1);
      const value = this.#value(at + i * child, child, type);
      if (value !== undefined) map.set(key, value);
    }
    return map;
  }

  #value(at: number, width: number, packed: number): number | readonly number[] | undefined {
    const type = packed >> 2;
    const child = 1 << (packed & 3);
    if (type === INT || type === UINT || type === FLOAT || type === BOOL) {
      return this.#number(at, width, type);
    }
    if (type >= INDIRECT_INT && type <= INDIRECT_FLOAT) {
      return this.#number(this.#target(at, width), child, type - INDIRECT_INT + INT);
    }
    const isTyped = type >= VECTOR_INT && type <= VECTOR_FLOAT;
    const isFixed = type >= FIRST_FIXED && type <= LAST_FIXED;
    if (!isTyped && !isFixed && type !== VECTOR) return undefined;
    const begin = this.#target(at, width);
    const size = isFixed
      ? 2 + Math.floor((type - FIRST_FIXED) / 3)
      : this.#uint(begin - child, child);
    this.#require(begin, size * child);
    countWork(size);
    return Array.from({ length: size }, (_, i) => {
      const each = begin + i * child;
      if (isTyped) return this.#number(each, child, type - VECTOR_INT + INT);
      if (isFixed) return this.#number(each, child, ((type - FIRST_FIXED) % 3) + INT);
      return this.#number(each, child, this.#uint(begin + size * child + i, 1) >> 2);
    });
  }

  #number(at: number, width: number, type: number): number {
    if (type === UINT || type === BOOL) return this.#uint(at, width);
    this.#require(at, width);
    if (type === FLOAT) {
      if (width === 4) return this.#view.getFloat32(at, true);
      if (width === 8) return this.#view.getFloat64(at, true);
    }
    if (type === INT) {
      if (width === 1) return this.#view.getInt8(at);
      if (width === 2) return this.#view.getInt16(at, true);
      if (width === 4) return this.#view.getInt32(at, true);
      return Number(this.#view.getBigInt64(at, true));
    }
    throw this.#broken(`a value of type ${type}`);
  }

  #uint(at: number, width: number): number {
    this.#require(at, width);
    if (width === 1) return this.#view.getUint8(at);
    if (width === 2) return this.#view.getUint16(at, true);
    if (width === 4) return this.#view.getUint32(at, true);
    if (width === 8) return Number(this.#view.getBigUint64(at, true));
    throw this.#broken(`numbers of ${width} bytes`);
  }

  /** Where an offset leads to, which counts backwards. */
  #target(at: number, width: number): number {
    const target = at - this.#uint(at, width);
    this.#require(target, 0);
    return target;
  }

  /** A text that ends with 0. */
  #key(at: number): string {
    const end = this.#bytes.indexOf(0, at);
    if (end < 0) throw this.#broken('a name without an end');
    return new TextDecoder().decode(this.#bytes.subarray(at, end));
  }

  #require(at: number, byteLength: number): void {
    if (at >= 0 && at + byteLength <= this.#bytes.byteLength) return;
    throw this.#broken(`an offset ${at} of ${byteLength} bytes`);
  }

  #broken(got: string): FormatError {
    const expected = `a map in FlexBuffers of ${this.#bytes.byteLength} bytes`;
    return new FormatError({ where: this.#where, got, expected });
  }
}
