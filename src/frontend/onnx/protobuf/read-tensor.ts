import { budgetInForce } from '../../../compiler/ir/compile-budget.ts';
import { type DType, dtypeInfo, type TypedArray } from '../../../core/tensor/dtype.ts';
import { FormatError, UnsupportedError } from '../../../core/errors.ts';
import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { elementCount, formatShape, type Shape } from '../../../core/tensor/shape.ts';
import {
  externalBytes,
  type ExternalDataReader,
  externalReader,
  isExternal,
} from './external-data.ts';
import { readMessage } from './read-message.ts';
import type { TensorProto } from './schema.ts';

/** TensorProto.DataType: the dtype, or the name of an element type that Weft does not have. */
export const DATA_TYPES: Readonly<Record<number, { dtype?: DType; name: string }>> = {
  1: { dtype: 'float32', name: 'float' },
  2: { dtype: 'uint8', name: 'uint8' },
  3: { dtype: 'int8', name: 'int8' },
  4: { dtype: 'uint16', name: 'uint16' },
  5: { dtype: 'int16', name: 'int16' },
  6: { dtype: 'int32', name: 'int32' },
  7: { dtype: 'int64', name: 'int64' },
  8: { name: 'string' },
  9: { dtype: 'bool', name: 'bool' },
  10: { dtype: 'float16', name: 'float16' },
  11: { dtype: 'float64', name: 'double' },
  12: { dtype: 'uint32', name: 'uint32' },
  13: { dtype: 'uint64', name: 'uint64' },
  14: { name: 'complex64' },
  15: { name: 'complex128' },
  16: { dtype: 'bfloat16', name: 'bfloat16' },
  17: { dtype: 'float8e4m3fn', name: 'float8e4m3fn' },
  18: { dtype: 'float8e4m3fnuz', name: 'float8e4m3fnuz' },
  19: { dtype: 'float8e5m2', name: 'float8e5m2' },
  20: { dtype: 'float8e5m2fnuz', name: 'float8e5m2fnuz' },
  21: { dtype: 'uint4', name: 'uint4' },
  22: { dtype: 'int4', name: 'int4' },
  23: { dtype: 'float4e2m1', name: 'float4e2m1' },
  24: { dtype: 'float8e8m0', name: 'float8e8m0' },
  25: { dtype: 'uint2', name: 'uint2' },
  26: { dtype: 'int2', name: 'int2' },
};

/** The dtype of ONNX's element type `code`. Throws FormatError or UnsupportedError. */
export function dtypeFromOnnx(code: number | undefined, where: string): DType {
  const entry = code === undefined ? undefined : DATA_TYPES[code];
  if (entry === undefined) {
    throw new FormatError({
      where,
      got: code === undefined || code === 0 ? 'no element type' : `element type ${code}`,
      expected: 'an element type of ONNX',
    });
  }
  if (entry.dtype === undefined) {
    throw new UnsupportedError({
      where,
      got: `element type ${entry.name}`,
      expected: 'a float, an integer, or bool',
    });
  }
  return entry.dtype;
}

/** Decodes a serialized TensorProto, such as `input_0.pb` of a test data set. */
export function readTensorFile(bytes: Uint8Array): { name: string; tensor: HostTensor } {
  const proto = readMessage('TensorProto', bytes);
  return { name: proto.name ?? '', tensor: tensorFromProto(proto, 'tensor file') };
}

/**
 * The tensor of a TensorProto, a view of the file's bytes where it holds raw, aligned data.
 *
 * Throws FormatError when data and dimensions disagree, UnsupportedError for element types that Weft
 * does not have, and for data in an external file unless `externalData` reads it.
 */
export function tensorFromProto(
  proto: TensorProto,
  where: string,
  externalData?: ExternalDataReader,
): HostTensor {
  const dtype = dtypeFromOnnx(proto.dataType, where);
  const shape = checkedShape(proto.dims, where);
  const count = elementCount(shape);
  if (isExternal(proto)) {
    budgetInForce()?.addWeights(count * dtypeInfo(dtype).byteLength);
    const byteLength = bitPackedByteLength(dtype, count);
    const place = { where, read: externalData };
    const reader = isBitPacked(dtype) ? undefined : externalReader(proto, byteLength, place);
    if (reader !== undefined) return new HostTensor(dtype, shape, reader);
    const bytes = externalBytes(proto, byteLength, place);
    return fromStoredBytes(dtype, shape, bytes);
  }
  if (proto.rawData !== undefined && (proto.rawData.length > 0 || count === 0)) {
    const expected = bitPackedByteLength(dtype, count);
    if (proto.rawData.byteLength !== expected) {
      throw mismatch(where, `${proto.rawData.byteLength} bytes of raw data`, {
        expected: `${expected} bytes for ${dtype} ${formatShape(shape)}`,
      });
    }
    return fromStoredBytes(dtype, shape, proto.rawData);
  }
  const elements = typedData(proto, dtype);
  if (elements.length !== count) {
    throw mismatch(where, `${elements.length} elements`, {
      expected: `${count} for ${dtype} ${formatShape(shape)}`,
    });
  }
  return new HostTensor(dtype, shape, elements);
}

function fromStoredBytes(dtype: DType, shape: Shape, bytes: Uint8Array): HostTensor {
  if (!isBitPacked(dtype)) return HostTensor.fromBytes(dtype, shape, bytes);
  return new HostTensor(dtype, shape, unpackElements(dtype, bytes, elementCount(shape)));
}

function mismatch(where: string, got: string, { expected }: { expected: string }): FormatError {
  return new FormatError({ where, got, expected, remedy: 'The file may be damaged.' });
}

export function checkedShape(dims: readonly number[], where: string): number[] {
  if (dims.some((dim) => dim < 0) || !Number.isSafeInteger(elementCount(dims))) {
    throw mismatch(where, `dimensions ${formatShape(dims)}`, {
      expected: 'non-negative dimensions with a product below 2^53',
    });
  }
  return [...dims];
}

/**
 * Small types share `int32_data`, one number each; small floats travel there as their bits, and of
 * types of less than 8 bits each number is one packed byte.
 */
function typedData(proto: TensorProto, dtype: DType): TypedArray {
  switch (dtype) {
    case 'float32':
      return proto.floatData;
    case 'float64':
      return proto.doubleData;
    case 'int64':
      return proto.int64Data;
    case 'uint64':
      return proto.uint64Data;
    case 'uint32':
      return Uint32Array.from(proto.uint64Data, Number);
    case 'bool':
      return Uint8Array.from(proto.int32Data, (value) => (value === 0 ? 0 : 1));
    default:
      return smallElements(proto, dtype);
  }
}

function smallElements({ int32Data, dims }: TensorProto, dtype: DType): TypedArray {
  if (!isBitPacked(dtype)) return HostTensor.from(dtype, [int32Data.length], int32Data).elements;
  const packed = Uint8Array.from(int32Data);
  const count = elementCount(dims);
  const isWhole = packed.length === bitPackedByteLength(dtype, count);
  return isWhole ? unpackElements(dtype, packed, count) : packed;
}

/** Bits of the element types that ONNX packs into bytes, the first element in the lowest bits. */
const PACKED_BITS: Partial<Record<DType, number>> = {
  float4e2m1: 4,
  int4: 4,
  uint4: 4,
  int2: 2,
  uint2: 2,
};

function isBitPacked(dtype: DType): boolean {
  return PACKED_BITS[dtype] !== undefined;
}

/** Bytes of elements as ONNX stores them. */
export function bitPackedByteLength(dtype: DType, count: number): number {
  const { byteLength } = dtypeInfo(dtype);
  return Math.ceil((count * (PACKED_BITS[dtype] ?? byteLength * 8)) / 8);
}

/** One array element for each element of bit-packed bytes, of which there are enough. */
function unpackElements(dtype: DType, bytes: Uint8Array, count: number): TypedArray {
  const bits = PACKED_BITS[dtype] ?? 8;
  const { array, category } = dtypeInfo(dtype);
  const elements = new array(count) as Int8Array | Uint8Array;
  const lanes = 8 / bits;
  const unused = 32 - bits;
  for (let i = 0; i < count; i++) {
    const lane = (bytes[Math.floor(i / lanes)] ?? 0) >> ((i % lanes) * bits);
    elements[i] = category === 'int' ? (lane << unused) >> unused : lane & (2 ** bits - 1);
  }
  return elements;
}
