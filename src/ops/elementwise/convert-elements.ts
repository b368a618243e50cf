import { type DType, isBigInt } from '../../core/tensor/dtype.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import {
  isSmallFloat,
  numberToSmallFloat,
  type RoundingOptions,
  smallFloatToNumber,
} from '../../core/tensor/small-floats.ts';
import { roundToInteger } from '../formula/host/convert-number.ts';
import { toFloat32, type Value } from '../formula/host/convert-value.ts';
import { scalarType } from '../formula/scalar-type.ts';

/** Bits of the integers that JavaScript numbers hold. */
function integerBits(dtype: DType): number | undefined {
  return /^u?int\d/.test(dtype) && !isBigInt(dtype) ? Number(/\d+/.exec(dtype)) : undefined;
}

/** Writes the elements of `x` to `output` as its dtype. This defines `cast`. */
export function convertElements(x: HostTensor, output: HostTensor, options: RoundingOptions): void {
  const source = x.data;
  const target = output.elements;
  const read = reader(x.dtype);
  if (target instanceof BigInt64Array || target instanceof BigUint64Array) {
    for (let i = 0; i < source.length; i++)
      target[i] = toWide(read(source[i] ?? 0), output.dtype, x.dtype);
    return;
  }
  const convert = converter(x.dtype, output.dtype, options);
  for (let i = 0; i < source.length; i++) target[i] = convert(read(source[i] ?? 0));
}

function reader(dtype: DType): (element: Value) => Value {
  if (dtype === 'float16') return (bits) => float16ToNumber(Number(bits));
  if (isSmallFloat(dtype)) return (bits) => smallFloatToNumber(dtype, Number(bits));
  if (isBigInt(dtype)) return (element) => element;
  if (integerBits(dtype) !== undefined) return (element) => BigInt(element);
  return (element) => element;
}

function converter(from: DType, dtype: DType, options: RoundingOptions): (value: Value) => number {
  if (dtype === 'bool') return (value) => Number(Number(value) !== 0);
  if (dtype === 'float32') return toFloat32;
  if (dtype === 'float16') return (value) => numberToFloat16(Number(value));
  if (isSmallFloat(dtype)) return (value) => numberToSmallFloat(dtype, Number(value), options);
  const bits = integerBits(dtype);
  if (bits === undefined) return Number;
  const isSigned = dtype.startsWith('int');
  return (value) => {
    const whole = typeof value === 'bigint' ? value : BigInt(rounded(value, dtype, from));
    return Number(isSigned ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole));
  };
}

/** Within the range of a dtype of 32 bits or more, of int32 for smaller ones. */
function rounded(value: number, to: DType, from: DType): number {
  const isWhole = to === 'uint32' || isBigInt(to);
  return roundToInteger(value, {
    from: from === 'float64' ? 'f64' : 'f32',
    to: isWhole ? scalarType(to) : 'i32',
  });
}

function toWide(value: Value, to: DType, from: DType): bigint {
  return typeof value === 'bigint' ? value : BigInt(rounded(value, to, from));
}
