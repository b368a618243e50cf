import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { HostTensor } from '../../core/host-tensor.ts';
import { FormatError, UsageError } from '../../core/errors.ts';
import { formatShape } from '../../core/shape.ts';
import { shortList } from '../../core/short-list.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { dtypeFromOnnx } from '../onnx/protobuf/read-tensor.ts';

/** Tensors by name. */
export type NamedTensors = Readonly<Record<string, HostTensor>>;

/** Fields of ONNX's messages that are written anew; all others are kept byte by byte. */
const MODEL_GRAPH = 7;
const GRAPH_INITIALIZER = 5;
const TENSOR = { name: 8, dataType: 2, dims: 1, rawData: 9, docString: 12 } as const;
const KEPT_OF_TENSOR: ReadonlySet<number> = new Set([
  TENSOR.name,
  TENSOR.dataType,
  TENSOR.dims,
  TENSOR.docString,
]);

/**
 * An ONNX model with other values of some initializers, of the dtypes and shapes that they have there. All else stays
 * as it is, byte by byte. An initializer that lay in another file lies in the model then.
 *
 * Throws FormatError for bytes that are no model, UsageError for names that are no initializers of the main graph, and
 * for tensors of another dtype or shape.
 */
export function exportOnnx(model: Uint8Array, weights: NamedTensors): Uint8Array {
  const { graph } = readMessage('ModelProto', model);
  if (graph === undefined) {
    throw new FormatError({ where: 'ONNX model', got: 'no graph', expected: 'one' });
  }
  const known = new Map(graph.initializer.map((tensor) => [tensor.name ?? '', tensor]));
  for (const [name, { dtype, shape }] of Object.entries(weights)) {
    const written = known.get(name);
    const where = `initializer ${JSON.stringify(name)}`;
    if (written === undefined) {
      const names = shortList([...known.keys()].map((each) => JSON.stringify(each)));
      throw new UsageError({ where, got: 'no such one', expected: `one of ${names}` });
    }
    const expected = `${dtypeFromOnnx(written.dataType, where)} ${formatShape([...written.dims])}`;
    const got = `${dtype} ${formatShape(shape)}`;
    if (got !== expected) throw new UsageError({ where, got, expected });
  }
  return rewriteFields(model, MODEL_GRAPH, (graphBytes) =>
    rewriteFields(graphBytes, GRAPH_INITIALIZER, (bytes) => {
      const { name = '' } = readMessage('TensorProto', bytes);
      const value = Object.hasOwn(weights, name) ? weights[name] : undefined;
      return value === undefined ? bytes : withData(bytes, value);
    }),
  );
}

/** A message with the bytes of one of its fields replaced. */
function rewriteFields(
  message: Uint8Array,
  field: number,
  replace: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  const reader = new BinaryReader(message);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    const [number, wireType] = reader.tag();
    if (number === field && wireType === WireType.LengthDelimited) {
      writer.tag(number, wireType).bytes(replace(reader.bytes()));
      continue;
    }
    reader.skip(wireType, number);
    writer.raw(message.subarray(begin, reader.pos));
  }
  return writer.finish();
}

/** A TensorProto with other elements, little-endian, whatever form they had. */
function withData(message: Uint8Array, { bytes }: HostTensor): Uint8Array {
  const reader = new BinaryReader(message);
  const writer = new BinaryWriter();
  while (reader.pos < reader.len) {
    const begin = reader.pos;
    const [number, wireType] = reader.tag();
    reader.skip(wireType, number);
    if (KEPT_OF_TENSOR.has(number)) writer.raw(message.subarray(begin, reader.pos));
  }
  return writer.tag(TENSOR.rawData, WireType.LengthDelimited).bytes(bytes).finish();
}
