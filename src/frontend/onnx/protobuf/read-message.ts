import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { requireBytes } from '../../../core/check-options.ts';
import { countWork } from '../../../core/limits/work-meter.ts';
import { CompileLimitError, FormatError } from '../../../core/errors.ts';
import {
  type FieldEntry,
  type Message,
  type MessageName,
  ONNX_SCHEMA,
  type RepeatedType,
} from './schema.ts';

/** Subgraphs nest; real models stay below ten levels, so this only stops malicious files. */
const MAX_DEPTH = 100;

const SCHEMA: Readonly<Record<string, Readonly<Record<string, FieldEntry>>>> = ONNX_SCHEMA;

interface Field {
  readonly name: string;
  readonly type: string;
  readonly isList: boolean;
}

const FIELDS_BY_NUMBER: ReadonlyMap<string, ReadonlyMap<number, Field>> = new Map(
  Object.entries(SCHEMA).map(([message, fields]) => [
    message,
    new Map(
      Object.entries(fields).map(([name, [number, type]]) => [
        number,
        typeof type === 'string'
          ? { name, type, isList: false }
          : { name, type: type[0], isList: true },
      ]),
    ),
  ]),
);

/**
 * Decodes one message of ONNX's schema. Byte fields are views of `bytes`.
 *
 * Throws FormatError for anything that is not well-formed protobuf of that message.
 */
export function readMessage<N extends MessageName>(name: N, bytes: Uint8Array): Message<N> {
  requireBytes(name, bytes);
  try {
    // A plain view: `slice` of Node's Buffer would alias and not copy.
    const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return decode(name, plain, 0) as Message<N>;
  } catch (thrown) {
    if (thrown instanceof FormatError || thrown instanceof CompileLimitError) throw thrown;
    throw new FormatError(
      {
        where: name,
        got: thrown instanceof Error ? `malformed protobuf (${thrown.message})` : String(thrown),
        expected: `a serialized ${name} of ONNX`,
        remedy: 'The file may be truncated or of another format.',
      },
      { cause: thrown },
    );
  }
}

type Decoded = Record<string, unknown>;

function decode(name: string, bytes: Uint8Array, depth: number): Decoded {
  countWork();
  if (depth > MAX_DEPTH) {
    throw new FormatError({
      where: name,
      got: `messages nested more than ${MAX_DEPTH} deep`,
      expected: 'fewer levels of subgraphs',
    });
  }
  const fields = FIELDS_BY_NUMBER.get(name);
  if (fields === undefined) throw new Error(`internal: no message ${name} in the ONNX schema`);
  const reader = new BinaryReader(bytes);
  const lists = new Map<string, unknown[]>();
  const numbers = new Map<string, NumberCollector>();
  const message: Decoded = {};
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const field = fields.get(number);
    if (field === undefined) {
      reader.skip(wire, number);
    } else if (isRepeatedType(field.type)) {
      let collector = numbers.get(field.name);
      if (collector === undefined) {
        collector = { type: field.type, values: [], packed: undefined };
        numbers.set(field.name, collector);
      }
      collect(collector, reader, wire);
    } else {
      const value = readSingular(reader, wire, field, { message: name, depth });
      if (field.isList) push(lists, field.name, value);
      else message[field.name] = value;
    }
  }
  for (const field of fields.values()) {
    if (field.isList) message[field.name] = lists.get(field.name) ?? [];
    if (isRepeatedType(field.type)) {
      message[field.name] = finish(field.type, numbers.get(field.name));
    }
  }
  return message;
}

function push(lists: Map<string, unknown[]>, name: string, value: unknown): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [value]);
  else list.push(value);
}

function readSingular(
  reader: BinaryReader,
  wire: WireType,
  field: Field,
  context: { message: string; depth: number },
): unknown {
  const expected = WIRE_TYPES[field.type] ?? WireType.LengthDelimited;
  if (wire !== expected) {
    throw new FormatError({
      where: `${context.message}.${field.name}`,
      got: `wire type ${wire}`,
      expected: `wire type ${expected}`,
    });
  }
  switch (field.type) {
    case 'int':
      return saturate(BigInt(reader.int64()));
    case 'bigint':
      return BigInt(reader.int64());
    case 'float':
      return reader.float();
    case 'string':
      return reader.string();
    case 'bytes':
      return reader.bytes();
    default:
      return decode(field.type, reader.bytes(), context.depth + 1);
  }
}

const WIRE_TYPES: Readonly<Record<string, WireType>> = {
  int: WireType.Varint,
  bigint: WireType.Varint,
  float: WireType.Bit32,
};

/** The nearest number that is exact. */
export function saturate(value: bigint): number {
  const number = Number(value);
  if (number > Number.MAX_SAFE_INTEGER) return Number.MAX_SAFE_INTEGER;
  return number < Number.MIN_SAFE_INTEGER ? Number.MIN_SAFE_INTEGER : number;
}

const REPEATED: Readonly<Record<RepeatedType, WireType>> = {
  ints: WireType.Varint,
  bigints: WireType.Varint,
  biguints: WireType.Varint,
  floats: WireType.Bit32,
  doubles: WireType.Bit64,
};

function isRepeatedType(type: string): type is RepeatedType {
  return Object.hasOwn(REPEATED, type);
}

/** Elements as they come: usually one packed run, which fixed-width types keep as bytes. */
interface NumberCollector {
  readonly type: RepeatedType;
  readonly values: (number | bigint)[];
  packed: Uint8Array | undefined;
}

function collect(collector: NumberCollector, reader: BinaryReader, wire: WireType): void {
  if (wire !== WireType.LengthDelimited) {
    if (wire !== REPEATED[collector.type]) {
      throw new Error(`wire type ${wire} for a field of ${collector.type}`);
    }
    unpack(collector);
    collector.values.push(readNumber(collector.type, reader));
    return;
  }
  const bytes = reader.bytes();
  const isFirst = collector.values.length === 0 && collector.packed === undefined;
  if (isFirst && isFixedWidth(collector.type)) {
    collector.packed = bytes;
    return;
  }
  unpack(collector);
  readAll(collector, bytes);
}

function isFixedWidth(type: RepeatedType): type is 'floats' | 'doubles' {
  return REPEATED[type] !== WireType.Varint;
}

function unpack(collector: NumberCollector): void {
  if (collector.packed === undefined) return;
  readAll(collector, collector.packed);
  collector.packed = undefined;
}

function readAll(collector: NumberCollector, bytes: Uint8Array): void {
  const run = new BinaryReader(bytes);
  while (run.pos < run.len) {
    countWork();
    collector.values.push(readNumber(collector.type, run));
  }
}

function readNumber(type: RepeatedType, reader: BinaryReader): number | bigint {
  switch (type) {
    case 'ints':
      return saturate(BigInt(reader.int64()));
    case 'bigints':
      return BigInt(reader.int64());
    case 'biguints':
      return BigInt(reader.uint64());
    case 'floats':
      return reader.float();
    case 'doubles':
      return reader.double();
    default:
      return type satisfies never;
  }
}

function finish(type: RepeatedType, collector: NumberCollector | undefined): unknown {
  if (collector?.packed !== undefined) {
    return type === 'floats'
      ? viewOf(Float32Array, collector.packed)
      : viewOf(Float64Array, collector.packed);
  }
  const values = collector?.values ?? [];
  switch (type) {
    case 'ints':
      return values;
    case 'bigints':
      return BigInt64Array.from(values, BigInt);
    case 'biguints':
      return BigUint64Array.from(values, BigInt);
    case 'floats':
      return Float32Array.from(values, Number);
    case 'doubles':
      return Float64Array.from(values, Number);
    default:
      return type satisfies never;
  }
}

function viewOf<T>(
  array: {
    new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
    readonly BYTES_PER_ELEMENT: number;
  },
  bytes: Uint8Array,
): T {
  const size = array.BYTES_PER_ELEMENT;
  if (bytes.byteLength % size !== 0) {
    throw new Error(`${bytes.byteLength} bytes of packed numbers of ${size} bytes`);
  }
  const aligned = bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);
  return new array(aligned.buffer, aligned.byteOffset, aligned.byteLength / size);
}
