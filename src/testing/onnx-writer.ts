import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { DType } from '../core/tensor/dtype.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';

/** A graph to be written as an ONNX model. */
export interface OnnxModelSpec extends OnnxGraphSpec {
  readonly opset?: number;
  readonly producer?: string;
  /** Versions of the operator sets of other domains. */
  readonly opsets?: Readonly<Record<string, number>>;
  readonly functions?: readonly OnnxFunctionSpec[];
}

export interface OnnxGraphSpec {
  readonly nodes: readonly OnnxNodeSpec[];
  readonly inputs?: readonly OnnxInputSpec[];
  readonly outputs: readonly string[];
  /** Types of outputs, which only tests may leave out: other readers ask for them. */
  readonly outputTypes?: Readonly<Record<string, Omit<OnnxInputSpec, 'name'>>>;
  readonly initializers?: Readonly<Record<string, HostTensor>>;
  readonly sparseInitializers?: Readonly<Record<string, OnnxSparseSpec>>;
  readonly externalInitializers?: Readonly<Record<string, OnnxExternalSpec>>;
}

interface OnnxSparseSpec {
  readonly values: HostTensor;
  readonly indices: HostTensor;
  readonly shape: readonly number[];
}

/** A tensor whose data lies in another file, with what the model says of its place. */
export interface OnnxExternalSpec {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly place: Readonly<Record<string, string>>;
}

/** A function of the model. */
export interface OnnxFunctionSpec {
  readonly domain: string;
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly nodes: readonly OnnxNodeSpec[];
  readonly opset?: number;
  readonly opsets?: Readonly<Record<string, number>>;
  /** Names of attributes without a default. */
  readonly attributes?: readonly string[];
  readonly defaults?: Readonly<Record<string, OnnxAttribute>>;
}

export interface OnnxNodeSpec {
  readonly op: string;
  readonly inputs?: readonly string[];
  readonly outputs: readonly string[];
  readonly name?: string;
  readonly domain?: string;
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
}

/** A node with one output. */
export function onnxNode(
  op: string,
  inputs: readonly string[],
  output: string,
  attributes: OnnxNodeSpec['attributes'] = {},
): OnnxNodeSpec {
  return { op, inputs, outputs: [output], attributes };
}

/** A number is an int, a list of numbers are ints. */
export type OnnxAttribute =
  | number
  | string
  | readonly number[]
  | HostTensor
  | { readonly float: number }
  | { readonly floats: readonly number[] }
  | { readonly strings: readonly string[] }
  | { readonly graph: OnnxGraphSpec }
  | { readonly valueType: Omit<OnnxInputSpec, 'name'> }
  | { readonly sparse: OnnxSparseSpec }
  /** A reference to an attribute of the function around the node, of a type by its code. */
  | { readonly reference: string; readonly type: number };

export interface OnnxInputSpec {
  readonly name: string;
  readonly dtype?: DType;
  /** Numbers, or names of symbolic dimensions; the empty name for one without. */
  readonly shape: readonly (number | string)[];
  /** Leaves the shape out. */
  readonly isUnranked?: boolean;
  /**
   * Types around the tensor, the outermost first: `['optional', 'sequence']` is an optional
   * sequence.
   */
  readonly of?: readonly ('optional' | 'sequence')[];
}

/** Codes of `TensorProto.DataType`. */
export const ELEMENT_TYPES: Readonly<Record<DType, number>> = {
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
  bfloat16: 16,
  float8e4m3fn: 17,
  float8e4m3fnuz: 18,
  float8e5m2: 19,
  float8e5m2fnuz: 20,
  uint4: 21,
  int4: 22,
  float4e2m1: 23,
  float8e8m0: 24,
  uint2: 25,
  int2: 26,
};

/** A serialized ModelProto, for models of our own and for tests of the importer. */
export function writeOnnxModel(spec: OnnxModelSpec): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int64(8);
  writer.tag(2, WireType.LengthDelimited).string(spec.producer ?? 'test');
  message(writer, 7, () => writeGraph(writer, spec));
  writeOpsets(writer, 8, spec);
  for (const fn of spec.functions ?? []) message(writer, 25, () => writeFunction(writer, fn));
  return writer.finish();
}

function writeOpsets(
  writer: BinaryWriter,
  field: number,
  { opset = 17, opsets = {} }: Pick<OnnxModelSpec, 'opset' | 'opsets'>,
): void {
  for (const [domain, version] of Object.entries({ '': opset, ...opsets })) {
    message(writer, field, () => {
      writer.tag(1, WireType.LengthDelimited).string(domain);
      writer.tag(2, WireType.Varint).int64(version);
    });
  }
}

function writeFunction(writer: BinaryWriter, fn: OnnxFunctionSpec): void {
  writer.tag(1, WireType.LengthDelimited).string(fn.name);
  for (const name of fn.inputs) writer.tag(4, WireType.LengthDelimited).string(name);
  for (const name of fn.outputs) writer.tag(5, WireType.LengthDelimited).string(name);
  for (const name of fn.attributes ?? []) writer.tag(6, WireType.LengthDelimited).string(name);
  for (const node of fn.nodes) message(writer, 7, () => writeNode(writer, node));
  writeOpsets(writer, 9, fn);
  writer.tag(10, WireType.LengthDelimited).string(fn.domain);
  for (const [name, value] of Object.entries(fn.defaults ?? {})) {
    message(writer, 11, () => writeAttribute(writer, name, value));
  }
}

/** A serialized TensorProto with raw data. */
export function writeOnnxTensor(tensor: HostTensor, name = ''): Uint8Array {
  const writer = new BinaryWriter();
  writeTensor(writer, tensor, name);
  return writer.finish();
}

function writeGraph(writer: BinaryWriter, spec: OnnxGraphSpec): void {
  for (const node of spec.nodes) message(writer, 1, () => writeNode(writer, node));
  writer.tag(2, WireType.LengthDelimited).string('graph');
  for (const [name, tensor] of Object.entries(spec.initializers ?? {})) {
    message(writer, 5, () => writeTensor(writer, tensor, name));
  }
  for (const [name, external] of Object.entries(spec.externalInitializers ?? {})) {
    message(writer, 5, () => writeExternalTensor(writer, name, external));
  }
  for (const [name, sparse] of Object.entries(spec.sparseInitializers ?? {})) {
    message(writer, 15, () => writeSparse(writer, sparse, name));
  }
  for (const input of spec.inputs ?? []) message(writer, 11, () => writeInput(writer, input));
  for (const name of spec.outputs) {
    const type = spec.outputTypes?.[name];
    message(writer, 12, () => {
      if (type === undefined) writer.tag(1, WireType.LengthDelimited).string(name);
      else writeInput(writer, { name, ...type });
    });
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
  if ('reference' in value) {
    writer.tag(21, WireType.LengthDelimited).string(value.reference);
    return value.type;
  }
  if ('graph' in value) {
    message(writer, 6, () => writeGraph(writer, value.graph));
    return 5;
  }
  if ('valueType' in value) {
    message(writer, 14, () => writeType(writer, value.valueType));
    return 13;
  }
  if ('sparse' in value) {
    message(writer, 22, () => writeSparse(writer, value.sparse, ''));
    return 11;
  }
  if ('strings' in value) {
    for (const item of value.strings) writer.tag(9, WireType.LengthDelimited).string(item);
    return 8;
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
  writer.tag(9, WireType.LengthDelimited).bytes(packedBytes(tensor));
}

function writeSparse(
  writer: BinaryWriter,
  { values, indices, shape }: OnnxSparseSpec,
  name: string,
): void {
  message(writer, 1, () => writeTensor(writer, values, name));
  message(writer, 2, () => writeTensor(writer, indices, ''));
  message(writer, 3, () => {
    for (const dim of shape) writer.int64(dim);
  });
}

function writeExternalTensor(
  writer: BinaryWriter,
  name: string,
  { dtype, shape, place }: OnnxExternalSpec,
): void {
  message(writer, 1, () => {
    for (const dim of shape) writer.int64(dim);
  });
  writer.tag(2, WireType.Varint).int32(ELEMENT_TYPES[dtype]);
  writer.tag(8, WireType.LengthDelimited).string(name);
  for (const [key, value] of Object.entries(place)) {
    message(writer, 13, () => {
      writer.tag(1, WireType.LengthDelimited).string(key);
      writer.tag(2, WireType.LengthDelimited).string(value);
    });
  }
  writer.tag(14, WireType.Varint).int32(1);
}

function writeInput(writer: BinaryWriter, { name, ...type }: OnnxInputSpec): void {
  writer.tag(1, WireType.LengthDelimited).string(name);
  message(writer, 2, () => writeType(writer, type));
}

function writeType(
  writer: BinaryWriter,
  {
    dtype = 'float32',
    shape,
    isUnranked = false,
    of: [outer, ...of] = [],
  }: Omit<OnnxInputSpec, 'name'>,
): void {
  if (outer !== undefined) {
    message(writer, outer === 'sequence' ? 4 : 9, () =>
      message(writer, 1, () => writeType(writer, { dtype, shape, isUnranked, of })),
    );
    return;
  }
  message(writer, 1, () => {
    writer.tag(1, WireType.Varint).int32(ELEMENT_TYPES[dtype]);
    if (isUnranked) return;
    message(writer, 2, () => {
      for (const dim of shape) message(writer, 1, () => writeDimension(writer, dim));
    });
  });
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

/** Elements of less than 8 bits as ONNX packs them, the first in the lowest bits. */
function packedBytes({ dtype, data, bytes }: HostTensor): Uint8Array {
  const bits = Number(/^u?int([24])$/.exec(dtype)?.[1] ?? (dtype === 'float4e2m1' ? 4 : 8));
  if (bits === 8) return bytes;
  const packed = new Uint8Array(Math.ceil((data.length * bits) / 8));
  for (let i = 0; i < data.length; i++) {
    const at = Math.floor((i * bits) / 8);
    const code = Number(data[i]) & (2 ** bits - 1);
    packed[at] = (packed[at] ?? 0) | (code << ((i * bits) % 8));
  }
  return packed;
}
