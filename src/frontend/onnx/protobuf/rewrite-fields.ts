import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Draft, MessageName } from './schema.ts';
import { fieldsOf, writeMessage } from './write-message.ts';

/**
 * Maps one occurrence of a field to the occurrences that replace it, any number, each without its
 * tag.
 */
export type FieldEdit = (bytes: Uint8Array) => readonly Uint8Array[];

/**
 * A message with fields of bytes, texts or messages replaced, by their numbers; all else stays as it is, byte by byte, in
 * its order.
 */
export function rewriteFields(
  message: Uint8Array,
  edits: Readonly<Record<number, FieldEdit>>,
): Uint8Array {
  const reader = new BinaryReader(message);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    const [number, wireType] = reader.tag();
    const edit = wireType === WireType.LengthDelimited ? edits[number] : undefined;
    if (edit === undefined) {
      reader.skip(wireType, number);
      writer.raw(message.subarray(begin, reader.pos));
      continue;
    }
    for (const bytes of edit(reader.bytes())) writer.tag(number, wireType).bytes(bytes);
  }
  return writer.finish();
}

/**
 * A message whose fields that a draft names are those of the draft, none where it has undefined; all others stay as they
 * are, unknown ones too.
 */
export function mergeDraft<N extends MessageName>(
  name: N,
  message: Uint8Array,
  draft: Draft<N>,
): Uint8Array {
  const replaced = fieldsOf(name, draft);
  const reader = new BinaryReader(message);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    const [number, wireType] = reader.tag();
    reader.skip(wireType, number);
    if (!replaced.has(number)) writer.raw(message.subarray(begin, reader.pos));
  }
  return writer.raw(writeMessage(name, draft)).finish();
}
