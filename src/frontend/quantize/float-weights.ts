import { decodeFloat16, encodeFloat16 } from '../../core/tensor/float16-arrays.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { ExternalDataReader } from '../onnx/protobuf/external-data.ts';
import { tensorFromProto } from '../onnx/protobuf/read-tensor.ts';
import type { TensorProto } from '../onnx/protobuf/schema.ts';
import type { FoundConstant } from './graph-scope.ts';

export type WeightDType = 'float32' | 'float16';

/** Weights of a model as numbers. */
export interface FloatWeights {
  readonly dtype: WeightDType;
  readonly shape: Shape;
  readonly values: Float32Array;
}

/** Element types of ONNX that hold floats. */
const FLOATS: ReadonlySet<number> = new Set([1, 10, 11, 16]);

export const isFloatTensor = ({ dataType = 0 }: TensorProto): boolean => FLOATS.has(dataType);

/** The elements of a constant, in the shape that it has before a transpose; or why they are no weights to be rounded. */
export function floatWeights(
  { tensor: proto, shape }: FoundConstant,
  externalData: ExternalDataReader | undefined,
): FloatWeights | string {
  const tensor = tensorFromProto(proto, `tensor "${proto.name ?? ''}"`, externalData);
  const { dtype } = tensor;
  if (dtype !== 'float32' && dtype !== 'float16') return `its weights are ${dtype}`;
  const { data } = tensor;
  const values = dtype === 'float16' ? decodeFloat16(data as Uint16Array) : (data as Float32Array);
  if (!values.every((value) => Number.isFinite(value))) return 'its weights are not all finite';
  return { dtype, shape, values };
}

/** Rounds a scale to the dtype of the weights, in which it is stored. */
export const roundTo =
  (dtype: WeightDType) =>
  (scale: number): number =>
    dtype === 'float16' ? float16ToNumber(numberToFloat16(scale)) : Math.fround(scale);

export function floatTensor(dtype: WeightDType, shape: Shape, values: Float32Array): HostTensor {
  if (dtype === 'float32') return new HostTensor(dtype, shape, values);
  const bits = new Uint16Array(values.length);
  encodeFloat16(values, bits);
  return new HostTensor(dtype, shape, bits);
}

/** (rows, columns) as (columns, rows). */
export function transposed(values: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < columns; i++) result[i * rows + row] = values[row * columns + i] ?? 0;
  }
  return result;
}

/** The root mean square of what was moved, relative to that of the weights. */
export function relativeError(values: ArrayLike<number>, decoded: ArrayLike<number>): number {
  let [error, sum] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    error += (value - (decoded[i] ?? 0)) ** 2;
    sum += value ** 2;
  }
  return sum === 0 ? 0 : Math.sqrt(error / sum);
}
