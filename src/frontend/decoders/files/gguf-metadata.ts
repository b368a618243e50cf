import { FormatError } from '../../../core/errors.ts';
import type { HeadReader } from './head-reader.ts';

/** Numbers of GGUF's metadata by the code of their type: the name, bytes, and how one is read. */
const NUMBERS: ReadonlyMap<
  number,
  { readonly name: string; readonly byteLength: number; readonly read: NumberReader }
> = /* @__PURE__ */ new Map([
  [0, { name: 'uint8', byteLength: 1, read: (view, at) => view.getUint8(at) }],
  [1, { name: 'int8', byteLength: 1, read: (view, at) => view.getInt8(at) }],
  [2, { name: 'uint16', byteLength: 2, read: (view, at) => view.getUint16(at, true) }],
  [3, { name: 'int16', byteLength: 2, read: (view, at) => view.getInt16(at, true) }],
  [4, { name: 'uint32', byteLength: 4, read: (view, at) => view.getUint32(at, true) }],
  [5, { name: 'int32', byteLength: 4, read: (view, at) => view.getInt32(at, true) }],
  [6, { name: 'float32', byteLength: 4, read: (view, at) => view.getFloat32(at, true) }],
  [10, { name: 'uint64', byteLength: 8, read: (view, at) => Number(view.getBigUint64(at, true)) }],
  [11, { name: 'int64', byteLength: 8, read: (view, at) => Number(view.getBigInt64(at, true)) }],
  [12, { name: 'float64', byteLength: 8, read: (view, at) => view.getFloat64(at, true) }],
]);

type NumberReader = (view: DataView, at: number) => number;

const [BOOL, STRING, ARRAY] = [7, 8, 9];

/** A value of the metadata. Integers beyond 2^53 are rounded: no key that a model needs holds any. */
export type GgufValue =
  | number
  | boolean
  | string
  | Float64Array
  | readonly string[]
  | readonly boolean[];

/** A value behind the code of its type. Throws FormatError for a type that GGUF does not have. */
export function readGgufValue(reader: HeadReader, key: string): GgufValue {
  return readValue(reader, reader.u32(`type of ${key}`), key);
}

function readValue(reader: HeadReader, type: number, key: string): GgufValue {
  const number = NUMBERS.get(type);
  if (number !== undefined) {
    const bytes = reader.bytes(number.byteLength, key);
    return number.read(viewOf(bytes), 0);
  }
  if (type === BOOL) return readBool(reader, key);
  if (type === STRING) return reader.string(key);
  if (type === ARRAY) return readArray(reader, key);
  throw reader.error({
    got: `type ${type} of ${key}`,
    expected: 'one of the types of GGUF, 0 to 12',
  });
}

function readArray(reader: HeadReader, key: string): GgufValue {
  const type = reader.u32(`type of the elements of ${key}`);
  const number = NUMBERS.get(type);
  if (number !== undefined) {
    const { byteLength, read } = number;
    const count = reader.count(`elements of ${key}`, byteLength);
    const view = viewOf(reader.bytes(count * byteLength, key));
    return Float64Array.from({ length: count }, (_, i) => read(view, i * byteLength));
  }
  if (type === STRING) {
    const count = reader.count(`elements of ${key}`, 8);
    const strings: string[] = [];
    for (let i = 0; i < count; i++) strings.push(reader.string(`element ${i} of ${key}`));
    return strings;
  }
  if (type === BOOL) {
    const count = reader.count(`elements of ${key}`, 1);
    return Array.from({ length: count }, () => readBool(reader, key));
  }
  throw reader.error({
    got: `elements of type ${type} in ${key}`,
    expected: 'numbers, bools or strings',
  });
}

function readBool(reader: HeadReader, key: string): boolean {
  const value = reader.u8(key);
  if (value <= 1) return value === 1;
  throw reader.error({ got: `${key} ${value}`, expected: '0 or 1' });
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * The metadata of a GGUF file, by key: `llama.block_count`. Each accessor gives undefined for a key
 * that is absent, and throws FormatError for a value of another type.
 */
export class GgufMetadata {
  readonly #values: ReadonlyMap<string, GgufValue>;
  readonly #where: string;

  constructor(values: ReadonlyMap<string, GgufValue>, where: string) {
    this.#values = values;
    this.#where = where;
  }

  /** The name of the file in messages. */
  get where(): string {
    return this.#where;
  }

  /** All keys, in the order of the file. */
  get keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  /** The value of a key, of any type; undefined where there is none. */
  get(key: string): GgufValue | undefined {
    return this.#values.get(key);
  }

  number(key: string): number | undefined {
    const value = this.#values.get(key);
    return value === undefined || typeof value === 'number' ? value : this.#refuse(key, 'a number');
  }

  string(key: string): string | undefined {
    const value = this.#values.get(key);
    return value === undefined || typeof value === 'string' ? value : this.#refuse(key, 'a string');
  }

  bool(key: string): boolean | undefined {
    const value = this.#values.get(key);
    return value === undefined || typeof value === 'boolean' ? value : this.#refuse(key, 'a bool');
  }

  numbers(key: string): Float64Array | undefined {
    const value = this.#values.get(key);
    if (value === undefined || value instanceof Float64Array) return value;
    return this.#refuse(key, 'an array of numbers');
  }

  strings(key: string): readonly string[] | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.#refuse(key, 'an array of strings');
    const strings: string[] = [];
    for (const element of value) {
      if (typeof element !== 'string') return this.#refuse(key, 'an array of strings');
      strings.push(element);
    }
    return strings;
  }

  bools(key: string): readonly boolean[] | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) return this.#refuse(key, 'an array of bools');
    const bools: boolean[] = [];
    for (const element of value) {
      if (typeof element !== 'boolean') return this.#refuse(key, 'an array of bools');
      bools.push(element);
    }
    return bools;
  }

  #refuse(key: string, expected: string): never {
    const value = this.#values.get(key);
    const got =
      typeof value === 'object' ? `an array of ${value.length}` : `${typeof value} ${value}`;
    throw new FormatError({ where: `${this.#where}, ${key}`, got, expected });
  }
}
