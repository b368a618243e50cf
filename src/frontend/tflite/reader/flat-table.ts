import { ByteBuffer } from 'flatbuffers';
import { countWork } from '../../../core/limits/work-meter.ts';
import { FormatError } from '../../../core/errors.ts';

/** A field of a table: what it holds, its number in the schema, and what stands for it where it is left out. */
export interface Field<T> {
  readonly id: number;
  readonly read: (table: FlatTable, id: number) => T;
  /** How the writer of test models stores it, and its default; lists and tables have none. */
  readonly type: 'i8' | 'u8' | 'i32' | 'u32' | 'f32' | 'u64' | 'string' | 'i32s' | 'f32s' | 'i64s';
  readonly otherwise?: number;
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** The values of fields. */
export type ValuesOf<F extends Fields> = { readonly [K in keyof F]: ReturnType<F[K]['read']> };

/** How often all bytes may be read: tables may share names, but not unfold to more than the file is. */
const MOST_READS = 8;

/** A flatbuffer whose every offset is checked before it is followed. */
class FlatBuffer {
  readonly bytes: Uint8Array;
  readonly buffer: ByteBuffer;
  #left: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.buffer = new ByteBuffer(bytes);
    this.#left = (bytes.byteLength + 1024) * MOST_READS;
  }

  /** Throws FormatError for bytes that are not all in the file, or when far more is read than the file has. */
  require(begin: number, byteLength: number, where: string): void {
    if (begin < 0 || !(begin + byteLength <= this.bytes.byteLength)) {
      throw this.broken(where, `an offset ${begin} of ${byteLength} bytes`);
    }
    this.#left -= byteLength;
    countWork(1);
    if (this.#left < 0) throw this.broken(where, 'tables that lie over each other');
  }

  broken(where: string, got: string): FormatError {
    return new FormatError({
      where,
      got,
      expected: `offsets within ${this.bytes.byteLength} bytes, each table once`,
      remedy: 'The file may be truncated or damaged.',
    });
  }
}

/** The table with which a flatbuffer begins. Throws FormatError. */
export function rootTable(bytes: Uint8Array, where: string): FlatTable {
  const flat = new FlatBuffer(bytes);
  flat.require(0, 8, where);
  return new FlatTable(flat, flat.buffer.readUint32(0), where);
}

/**
 * A table of a flatbuffer. Fields that it leaves out are undefined, or the default that is given. All methods throw FormatError
 * for an offset out of bounds.
 */
export class FlatTable {
  /** Where it is in the model, for messages. */
  readonly where: string;
  readonly #flat: FlatBuffer;
  readonly #at: number;
  readonly #vtable: number;
  readonly #vtableLength: number;
  readonly #length: number;

  constructor(flat: FlatBuffer, at: number, where: string) {
    this.#flat = flat;
    this.#at = at;
    this.where = where;
    flat.require(at, 4, where);
    this.#vtable = at - flat.buffer.readInt32(at);
    flat.require(this.#vtable, 4, where);
    this.#vtableLength = flat.buffer.readUint16(this.#vtable);
    this.#length = flat.buffer.readUint16(this.#vtable + 2);
    flat.require(this.#vtable, this.#vtableLength, where);
    flat.require(at, this.#length, where);
  }

  /** Where the value of a field lies, `byteLength` bytes; undefined where it is left out. */
  #place(id: number, byteLength: number): number | undefined {
    const entry = 4 + 2 * id;
    if (entry + 2 > this.#vtableLength) return undefined;
    const offset = this.#flat.buffer.readUint16(this.#vtable + entry);
    if (offset === 0) return undefined;
    if (offset + byteLength > this.#length) {
      throw this.#flat.broken(this.where, `field ${id} behind its table`);
    }
    return this.#at + offset;
  }

  i8(id: number, otherwise = 0): number {
    const at = this.#place(id, 1);
    return at === undefined ? otherwise : this.#flat.buffer.readInt8(at);
  }

  u8(id: number, otherwise = 0): number {
    const at = this.#place(id, 1);
    return at === undefined ? otherwise : this.#flat.buffer.readUint8(at);
  }

  i32(id: number, otherwise = 0): number {
    const at = this.#place(id, 4);
    return at === undefined ? otherwise : this.#flat.buffer.readInt32(at);
  }

  u32(id: number, otherwise = 0): number {
    const at = this.#place(id, 4);
    return at === undefined ? otherwise : this.#flat.buffer.readUint32(at);
  }

  f32(id: number, otherwise = 0): number {
    const at = this.#place(id, 4);
    return at === undefined ? otherwise : this.#flat.buffer.readFloat32(at);
  }

  u64(id: number, otherwise = 0): number {
    const at = this.#place(id, 8);
    return at === undefined ? otherwise : Number(this.#flat.buffer.readUint64(at));
  }

  /** Where an offset leads to. */
  #target(id: number): number | undefined {
    const at = this.#place(id, 4);
    return at === undefined ? undefined : at + this.#flat.buffer.readUint32(at);
  }

  /** Begin and length of a vector of elements of so many bytes. */
  #vector(id: number, byteLength: number): readonly [begin: number, length: number] | undefined {
    const at = this.#target(id);
    if (at === undefined) return undefined;
    this.#flat.require(at, 4, this.where);
    const length = this.#flat.buffer.readUint32(at);
    this.#flat.require(at + 4, length * byteLength, this.where);
    return [at + 4, length];
  }

  /** Returns true if the table has the field. */
  has(id: number): boolean {
    return this.#place(id, 0) !== undefined;
  }

  /** A view of a vector of bytes. */
  bytes(id: number): Uint8Array | undefined {
    const vector = this.#vector(id, 1);
    return vector && this.#flat.bytes.subarray(vector[0], vector[0] + vector[1]);
  }

  string(id: number): string | undefined {
    const bytes = this.bytes(id);
    return bytes && new TextDecoder().decode(bytes);
  }

  #list(id: number, byteLength: number, read: (at: number) => number): number[] | undefined {
    const vector = this.#vector(id, byteLength);
    if (vector === undefined) return undefined;
    return Array.from({ length: vector[1] }, (_, i) => read(vector[0] + i * byteLength));
  }

  u16s(id: number): number[] | undefined {
    return this.#list(id, 2, (at) => this.#flat.buffer.readUint16(at));
  }

  i32s(id: number): number[] | undefined {
    return this.#list(id, 4, (at) => this.#flat.buffer.readInt32(at));
  }

  f32s(id: number): number[] | undefined {
    return this.#list(id, 4, (at) => this.#flat.buffer.readFloat32(at));
  }

  i64s(id: number): number[] | undefined {
    return this.#list(id, 8, (at) => Number(this.#flat.buffer.readInt64(at)));
  }

  table(id: number, where = this.where): FlatTable | undefined {
    const at = this.#target(id);
    return at === undefined ? undefined : new FlatTable(this.#flat, at, where);
  }

  /** A vector of tables; `where` names each by its number. */
  tables(id: number, where: (index: number) => string): FlatTable[] {
    const vector = this.#vector(id, 4);
    if (vector === undefined) return [];
    const [begin, length] = vector;
    return Array.from({ length }, (_, i) => {
      const at = begin + 4 * i;
      return new FlatTable(this.#flat, at + this.#flat.buffer.readUint32(at), where(i));
    });
  }
}

/** Fields of the schema, by type. Their numbers are those of the schema. */
export const field = {
  i8: (id: number, otherwise = 0): Field<number> => ({
    id,
    type: 'i8',
    otherwise,
    read: (table) => table.i8(id, otherwise),
  }),
  bool: (id: number, otherwise = false): Field<boolean> => ({
    id,
    type: 'u8',
    otherwise: Number(otherwise),
    read: (table) => table.u8(id, Number(otherwise)) !== 0,
  }),
  i32: (id: number, otherwise = 0): Field<number> => ({
    id,
    type: 'i32',
    otherwise,
    read: (table) => table.i32(id, otherwise),
  }),
  f32: (id: number): Field<number> => ({ id, type: 'f32', read: (table) => table.f32(id) }),
  i32s: (id: number): Field<readonly number[] | undefined> => ({
    id,
    type: 'i32s',
    read: (table) => table.i32s(id),
  }),
  f32s: (id: number): Field<readonly number[] | undefined> => ({
    id,
    type: 'f32s',
    read: (table) => table.f32s(id),
  }),
  string: (id: number): Field<string | undefined> => ({
    id,
    type: 'string',
    read: (table) => table.string(id),
  }),
} as const;
