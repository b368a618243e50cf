import { type DType, isBigInt } from '../../core/dtype.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/float16.ts';
import type { HostTensor } from '../../core/host-tensor.ts';
import {
  isSmallFloat,
  numberToSmallFloat,
  type RoundingOptions,
  smallFloatToNumber,
} from '../../core/small-floats.ts';

/** Bits of the integers that JavaScript numbers hold. */
const INTEGER_BITS: Partial<Record<DType, number>> = {
  int2: 2,
  uint2: 2,
  int4: 4,
  uint4: 4,
  int8: 8,
  uint8: 8,
  int16: 16,
  uint16: 16,
  int32: 32,
  uint32: 32,
};

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

type Value = number | bigint;

function reader(dtype: DType): (element: Value) => Value {
  if (dtype === 'float16') return (bits) => float16ToNumber(Number(bits));
  if (isSmallFloat(dtype)) return (bits) => smallFloatToNumber(dtype, Number(bits));
  if (isBigInt(dtype)) return (element) => element;
  if (dtype in INTEGER_BITS) return (element) => BigInt(element);
  return (element) => element;
}

function converter(from: DType, dtype: DType, options: RoundingOptions): (value: Value) => number {
  if (dtype === 'bool') return (value) => Number(Number(value) !== 0);
  if (dtype === 'float32') return toFloat32;
  if (dtype === 'float16') return (value) => numberToFloat16(Number(value));
  if (isSmallFloat(dtype)) return (value) => numberToSmallFloat(dtype, Number(value), options);
  const bits = INTEGER_BITS[dtype];
  if (bits === undefined) return Number;
  const isSigned = dtype.startsWith('int');
  return (value) => {
    const whole = typeof value === 'bigint' ? value : BigInt(roundToInteger(value, dtype, from));
    return Number(isSigned ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole));
  };
}

/**
 * Rounds a number towards zero, within the range of a dtype of 32 bits or more, of int32 for smaller
 * ones. NaN gives 0.
 */
export function roundToInteger(value: number, dtype: DType, from: DType): number {
  if (Number.isNaN(value)) return 0;
  const bits = isBigInt(dtype) ? 64 : 32;
  const isSigned = dtype !== 'uint32' && dtype !== 'uint64';
  const [low, high] = rangeOf({ bits, isSigned, from });
  return Math.trunc(Math.min(Math.max(value, low), high)) + 0;
}

interface IntegerTarget {
  readonly bits: number;
  readonly isSigned: boolean;
  /** The dtype of the number. */
  readonly from: DType;
}

/** The last number of the source's dtype inside the range, which is as far as shaders get. */
function rangeOf({ bits, isSigned, from }: IntegerTarget): [number, number] {
  const digits = bits - Number(isSigned);
  const above = Math.max(1, 2 ** (digits - (from === 'float64' ? 53 : 24)));
  return [isSigned ? -(2 ** digits) : 0, 2 ** digits - above];
}

/** To nearest, ties to even, in one step: 64-bit integers have more digits than a double. */
function toFloat32(value: Value): number {
  if (typeof value === 'number') return value;
  const size = value < 0n ? -value : value;
  if (size < 2n ** 53n) return Number(value);
  const excess = BigInt(Math.max(0, size.toString(2).length - 40));
  const kept = size >> excess;
  const isInexact = kept << excess !== size;
  const rounded = Math.fround(Number(isInexact ? kept | 1n : kept) * 2 ** Number(excess));
  return value < 0n ? -rounded : rounded;
}

function toWide(value: Value, to: DType, from: DType): bigint {
  return typeof value === 'bigint' ? value : BigInt(roundToInteger(value, to, from));
}
