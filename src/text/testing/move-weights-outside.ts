import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { concatenate } from '../../core/bytes/concatenate.ts';

/** Fields of ModelProto, GraphProto, TensorProto and StringStringEntryProto. */
const [GRAPH, INITIALIZER, RAW_DATA, EXTERNAL_DATA, DATA_LOCATION, KEY, VALUE] = [
  7, 5, 9, 13, 14, 1, 2,
];

/** Elements of fewer bytes stay in the model, as exporters leave them. */
const LEAST = 1024;

/** An ONNX model whose larger initializers lie in a file beside it. */
export function moveWeightsOutside(
  model: Uint8Array,
  location: string,
): { readonly model: Uint8Array; readonly data: Uint8Array } {
  const pieces: Uint8Array[] = [];
  let byteOffset = 0;
  const moveTensor = (tensor: Uint8Array): Uint8Array => {
    let moved: Uint8Array | undefined;
    const writer = new BinaryWriter();
    eachField(tensor, (number, raw, content) => {
      if (number !== RAW_DATA || content === undefined || content.byteLength < LEAST)
        writer.raw(raw);
      else moved = content;
    });
    if (moved === undefined) return tensor;
    const entries = { location, offset: String(byteOffset), length: String(moved.byteLength) };
    for (const [key, value] of Object.entries(entries)) {
      writer.tag(EXTERNAL_DATA, WireType.LengthDelimited).fork();
      writer.tag(KEY, WireType.LengthDelimited).string(key);
      writer.tag(VALUE, WireType.LengthDelimited).string(value).join();
    }
    writer.tag(DATA_LOCATION, WireType.Varint).int32(1);
    pieces.push(moved);
    byteOffset += moved.byteLength;
    return writer.finish();
  };
  const moved = rewritten(model, GRAPH, (graph) => rewritten(graph, INITIALIZER, moveTensor));
  return { model: moved, data: concatenate(pieces) };
}

/** A message with one field rewritten wherever it is. */
function rewritten(
  message: Uint8Array,
  field: number,
  rewrite: (content: Uint8Array) => Uint8Array,
): Uint8Array {
  const writer = new BinaryWriter();
  eachField(message, (number, raw, content) => {
    if (number !== field || content === undefined) writer.raw(raw);
    else writer.tag(field, WireType.LengthDelimited).bytes(rewrite(content));
  });
  return writer.finish();
}

function eachField(
  message: Uint8Array,
  show: (number: number, raw: Uint8Array, content: Uint8Array | undefined) => void,
): void {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    const [number, wire] = reader.tag();
    let content: Uint8Array | undefined;
    if (wire === WireType.LengthDelimited) content = reader.bytes();
    else reader.skip(wire, number);
    show(number, message.subarray(begin, reader.pos), content);
  }
}
