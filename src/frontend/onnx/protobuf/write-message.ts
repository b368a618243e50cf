import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { internalError } from '../../../core/errors.ts';
import {
  type Draft,
  type FieldEntry,
  type MessageName,
  ONNX_SCHEMA,
  type RepeatedType,
} from './schema.ts';

type Fields = Readonly<Record<string, FieldEntry>>;

const SCHEMA: Readonly<Record<string, Fields>> = ONNX_SCHEMA;

/** Encodes a message of ONNX's schema: what `readMessage` reads back. Numbers that repeat are packed. */
export function writeMessage<N extends MessageName>(name: N, draft: Draft<N>): Uint8Array {
  const writer = new BinaryWriter();
  writeFields(writer, name, draft);
  return writer.finish();
}

/** The numbers of the fields that a draft names, empty lists and undefined ones among them. */
export function fieldsOf<N extends MessageName>(name: N, draft: Draft<N>): ReadonlySet<number> {
  const fields: Fields = ONNX_SCHEMA[name];
  return new Set(Object.keys(draft).flatMap((key) => fields[key]?.[0] ?? []));
}

function writeFields(writer: BinaryWriter, name: string, draft: object): void {
  const values = draft as Readonly<Record<string, unknown>>;
  for (const [field, [number, type]] of Object.entries(SCHEMA[name] ?? {})) {
    const value = values[field];
    if (value === undefined) continue;
    if (typeof type === 'string') writeField(writer, { number, type }, value);
    else for (const each of value as unknown[]) writeField(writer, { number, type: type[0] }, each);
  }
}

function writeField(
  writer: BinaryWriter,
  { number, type }: { readonly number: number; readonly type: string },
  value: unknown,
): void {
  const delimited = (): BinaryWriter => writer.tag(number, WireType.LengthDelimited);
  switch (type) {
    case 'int':
    case 'bigint':
      writer.tag(number, WireType.Varint).int64(value as number);
      return;
    case 'float':
      writer.tag(number, WireType.Bit32).float(value as number);
      return;
    case 'string':
      delimited().string(value as string);
      return;
    case 'bytes':
      delimited().bytes(value as Uint8Array);
      return;
    case 'ints':
    case 'bigints':
    case 'biguints':
    case 'floats':
    case 'doubles':
      writeNumbers(writer, { number, type }, [...(value as Iterable<number>)]);
      return;
    default:
      if (!Object.hasOwn(SCHEMA, type))
        throw internalError(`no message ${type} in the ONNX schema`);
      delimited().fork();
      writeFields(writer, type, value as object);
      writer.join();
  }
}

function writeNumbers(
  writer: BinaryWriter,
  { number, type }: { readonly number: number; readonly type: RepeatedType },
  values: readonly number[],
): void {
  if (values.length === 0) return;
  writer.tag(number, WireType.LengthDelimited).fork();
  for (const value of values) {
    if (type === 'floats') writer.float(value);
    else if (type === 'doubles') writer.double(value);
    else if (type === 'biguints') writer.uint64(value);
    else writer.int64(value);
  }
  writer.join();
}
