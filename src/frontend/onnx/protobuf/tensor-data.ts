import type { DType } from '../../../core/tensor/dtype.ts';
import { internalError } from '../../../core/errors.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import { bitPackedByteLength, checkedShape, DATA_TYPES, dtypeFromOnnx } from './read-tensor.ts';
import type { Draft, TensorProto } from './schema.ts';

/** ONNX's element type of a dtype. */
export function onnxFromDType(dtype: DType): number {
  const found = Object.entries(DATA_TYPES).find(([, entry]) => entry.dtype === dtype);
  if (found === undefined) throw internalError(`no element type of ONNX for ${dtype}`);
  return Number(found[0]);
}

/** Bytes of a tensor's elements as ONNX stores them. Throws FormatError and UnsupportedError as reading it does. */
export function storedByteLength({ dataType, dims }: TensorProto, where: string): number {
  return bitPackedByteLength(
    dtypeFromOnnx(dataType, where),
    elementCount(checkedShape(dims, where)),
  );
}

/** The fields of a TensorProto that hold its elements. */
const NO_DATA = {
  floatData: [],
  int32Data: [],
  stringData: [],
  int64Data: [],
  rawData: undefined,
  doubleData: [],
  uint64Data: [],
  externalData: [],
  dataLocation: 0,
} as const satisfies Draft<'TensorProto'>;

/** Elements as bytes, little-endian, in place of whatever form they had. */
export function inlineData(bytes: Uint8Array): Draft<'TensorProto'> {
  return { ...NO_DATA, rawData: bytes };
}

/** Elements in a file beside the model, in place of whatever form they had. */
export function dataBeside(
  place: Readonly<Record<'location' | 'offset' | 'length', string | number>>,
): Draft<'TensorProto'> {
  const externalData = Object.entries(place).map(([key, value]) => ({ key, value: String(value) }));
  return { ...NO_DATA, externalData, dataLocation: 1 };
}
