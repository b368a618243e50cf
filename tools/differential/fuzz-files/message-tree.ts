import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { MESSAGE_FIELDS } from './onnx-fields.ts';

/** A message of protocol buffers as a tree, so that lengths are right after a change. */
export interface Message {
  /** Its name in the table of fields. */
  readonly type: string;
  readonly fields: Field[];
}

export type Field =
  | { readonly number: number; readonly kind: 'varint'; value: bigint }
  | { readonly number: number; readonly kind: 'fixed'; readonly wire: WireType; bytes: Uint8Array }
  | { readonly number: number; readonly kind: 'bytes'; bytes: Uint8Array }
  | { readonly number: number; readonly kind: 'message'; message: Message };

export function parseMessage(bytes: Uint8Array, type: string): Message {
  const reader = new BinaryReader(bytes);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const nested = MESSAGE_FIELDS[type]?.[number];
    if (wire === WireType.Varint) {
      fields.push({ number, kind: 'varint', value: BigInt.asUintN(64, BigInt(reader.uint64())) });
    } else if (wire === WireType.LengthDelimited) {
      const content = reader.bytes();
      if (nested === undefined) fields.push({ number, kind: 'bytes', bytes: content });
      else fields.push({ number, kind: 'message', message: parseMessage(content, nested) });
    } else {
      const begin = reader.pos;
      reader.skip(wire, number);
      fields.push({ number, kind: 'fixed', wire, bytes: bytes.slice(begin, reader.pos) });
    }
  }
  return { type, fields };
}

export function writeMessage({ fields }: Message): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  for (const field of fields) {
    if (field.kind === 'varint') {
      writer.tag(field.number, WireType.Varint).uint64(field.value);
    } else if (field.kind === 'fixed') {
      writer.tag(field.number, field.wire).raw(field.bytes);
    } else {
      const bytes = field.kind === 'bytes' ? field.bytes : writeMessage(field.message);
      writer.tag(field.number, WireType.LengthDelimited).bytes(bytes);
    }
  }
  return new Uint8Array(writer.finish());
}

/** The message and all below it, outermost first. */
export function messagesOf(message: Message): Message[] {
  const nested = message.fields.flatMap((field) =>
    field.kind === 'message' ? messagesOf(field.message) : [],
  );
  return [message, ...nested];
}
