import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { DType } from '../core/dtype.ts';
import { HostTensor } from '../core/host-tensor.ts';

/** A graph to be written as an ONNX model. */
export interface OnnxModelSpec {
  readonly opset?: number;
  readonly nodes: readonly OnnxNodeSpec[];
  readonly inputs?: readonly OnnxInputSpec[];
  readonly outputs: readonly string[];
  readonly initializers?: Readonly<Record<string, HostTensor>>;
}

export interface OnnxNodeSpec {
  readonly op: string;
  readonly inputs?: readonly string[];
  readonly outputs: readonly string[];
  readonly name?: string;
  readonly domain?: string;
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
}

/** A number is an int, a list of numbers are ints. */
export type OnnxAttribute =
  | number
  | string
  | readonly number[]
  | HostTensor
  | { readonly float: number }
  | { readonly floats: readonly number[] };

export interface OnnxInputSpec {
  readonly name: string;
  readonly dtype?: DType;
  /** Numbers, or names of symbolic dimensions; the empty name for one without. */
  readonly shape: readonly (number | string)[];
}

const ELEMENT_TYPES: Readonly<Record<DType, number>> = {
  float32: 1,
  uint8: 2,
  int8: 3,
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  float64: 11,
  uint32: 12,
  uint64: 13,
};

/** A serialized ModelProto, for tests of the importer that need no files. */
export function writeOnnxModel(spec: OnnxModelSpec): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int64(8);
  writer.tag(2, WireType.LengthDelimited).string('test');
  message(writer, 7, () => writeGraph(writer, spec));
  message(writer, 8, () => {
    writer.tag(1, WireType.LengthDelimited).string('');
    writer.tag(2, WireType.Varint).int64(spec.opset ?? 17);
  });
  return writer.finish();
}

/** A serialized TensorProto with raw data. */
export function writeOnnxTensor(tensor: HostTensor, name = ''): Uint8Array {
  const writer = new BinaryWriter();
  writeTensor(writer, tensor, name);
  return writer.finish();
}

function writeGraph(writer: BinaryWriter, spec: OnnxModelSpec): void {
  for (const node of spec.nodes) message(writer, 1, () => writeNode(writer, node));
  writer.tag(2, WireType.LengthDelimited).string('graph');
  for (const [name, tensor] of Object.entries(spec.initializers ?? {})) {
    message(writer, 5, () => writeTensor(writer, tensor, name));
  }
  for (const input of spec.inputs ?? []) message(writer, 11, () => writeInput(writer, input));
  for (const name of spec.outputs) {
    message(writer, 12, () => writer.tag(1, WireType.LengthDelimited).string(name));
  }
}

function writeNode(writer: BinaryWriter, node: OnnxNodeSpec): void {
  for (const name of node.inputs ?? []) writer.tag(1, WireType.LengthDelimited).string(name);
  for (const name of node.outputs) writer.tag(2, WireType.LengthDelimited).string(name);
  if (node.name !== undefined) writer.tag(3, WireType.LengthDelimited).string(node.name);
  writer.tag(4, WireType.LengthDelimited).string(node.op);
  for (const [name, value] of Object.entries(node.attributes ?? {})) {
    message(writer, 5, () => writeAttribute(writer, name, value));
  }
  if (node.domain !== undefined) writer.tag(7, WireType.LengthDelimited).string(node.domain);
}

function writeAttribute(writer: BinaryWriter, name: string, value: OnnxAttribute): void {
  writer.tag(1, WireType.LengthDelimited).string(name);
  const type = writeAttributeValue(writer, value);
  writer.tag(20, WireType.Varint).int32(type);
}

/** Returns the code of the attribute's type. */
function writeAttributeValue(writer: BinaryWriter, value: OnnxAttribute): number {
  if (typeof value === 'number') {
    writer.tag(3, WireType.Varint).int64(value);
    return 2;
  }
  if (typeof value === 'string') {
    writer.tag(4, WireType.LengthDelimited).string(value);
    return 3;
  }
  if (value instanceof HostTensor) {
    message(writer, 5, () => writeTensor(writer, value, ''));
    return 4;
  }
  if ('float' in value) {
    writer.tag(2, WireType.Bit32).float(value.float);
    return 1;
  }
  if ('floats' in value) {
    message(writer, 7, () => {
      for (const item of value.floats) writer.float(item);
    });
    return 6;
  }
  message(writer, 8, () => {
    for (const item of value) writer.int64(item);
  });
  return 7;
}

function writeTensor(writer: BinaryWriter, tensor: HostTensor, name: string): void {
  message(writer, 1, () => {
    for (const dim of tensor.shape) writer.int64(dim);
  });
  writer.tag(2, WireType.Varint).int32(ELEMENT_TYPES[tensor.dtype]);
  writer.tag(8, WireType.LengthDelimited).string(name);
  writer.tag(9, WireType.LengthDelimited).bytes(tensor.bytes);
}

function writeInput(writer: BinaryWriter, { name, dtype = 'float32', shape }: OnnxInputSpec): void {
  writer.tag(1, WireType.LengthDelimited).string(name);
  message(writer, 2, () =>
    message(writer, 1, () => {
      writer.tag(1, WireType.Varint).int32(ELEMENT_TYPES[dtype]);
      message(writer, 2, () => {
        for (const dim of shape) message(writer, 1, () => writeDimension(writer, dim));
      });
    }),
  );
}

function writeDimension(writer: BinaryWriter, dim: number | string): void {
  if (typeof dim === 'number') writer.tag(1, WireType.Varint).int64(dim);
  else if (dim !== '') writer.tag(2, WireType.LengthDelimited).string(dim);
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  writer.tag(field, WireType.LengthDelimited).fork();
  write();
  writer.join();
}
