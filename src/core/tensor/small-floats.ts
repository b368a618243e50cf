import type { DType } from './dtype.ts';

/** How bits of a binary float are read; see {@link SMALL_FLOATS}. */
interface FloatFormat {
  readonly fractionBits: number;
  readonly bias: number;
  readonly signBit: number;
  /** The largest finite magnitude. */
  readonly largest: number;
  /** Bits of NaN, which loses its sign; undefined where there is none. */
  readonly nan: number | undefined;
  /** Bits of positive infinity; undefined where there is none. */
  readonly infinity: number | undefined;
  /** True if minus zero exists; where it does not, its bits are NaN. */
  readonly hasMinusZero: boolean;
}

/** The formats of ONNX that have a sign and a zero; float8e8m0 has neither. */
const SMALL_FLOATS: Partial<Record<DType, FloatFormat>> = {
  float16: ieee(10, 15, 0x8000),
  bfloat16: ieee(7, 127, 0x8000),
  float8e5m2: ieee(2, 15, 0x80),
  float8e4m3fn: { ...finite(3, 7, 0x80), largest: 448, nan: 0x7f },
  float8e4m3fnuz: { ...finite(3, 8, 0x80), largest: 240, nan: 0x80, hasMinusZero: false },
  float8e5m2fnuz: { ...finite(2, 16, 0x80), largest: 57344, nan: 0x80, hasMinusZero: false },
  float4e2m1: { ...finite(1, 1, 8), largest: 6 },
};

function ieee(fractionBits: number, bias: number, signBit: number): FloatFormat {
  const infinity = (2 * bias + 1) << fractionBits;
  return {
    ...finite(fractionBits, bias, signBit),
    largest: (2 - 2 ** -fractionBits) * 2 ** bias,
    nan: infinity | (1 << (fractionBits - 1)),
    infinity,
  };
}

function finite(fractionBits: number, bias: number, signBit: number): FloatFormat {
  const common = { largest: 0, nan: undefined, infinity: undefined, hasMinusZero: true };
  return { ...common, fractionBits, bias, signBit };
}

export interface RoundingOptions {
  /**
   * True: float8 becomes its largest value where it would overflow. False: it becomes NaN or
   * infinity.
   */
  readonly saturate: boolean;
  /** How float8e8m0 chooses its power of two. */
  readonly roundMode: string;
}

/** Returns true for dtypes whose elements are bits of a float that is smaller than float32. */
export function isSmallFloat(dtype: DType): boolean {
  return dtype === 'float8e8m0' || SMALL_FLOATS[dtype] !== undefined;
}

export function smallFloatToNumber(dtype: DType, bits: number): number {
  if (dtype === 'float8e8m0') return bits === 0xff ? Number.NaN : 2 ** (bits - 127);
  const format = formatOf(dtype);
  const { fractionBits, bias, signBit, nan, infinity } = format;
  const size = bits & (signBit - 1);
  if (bits === nan || (infinity === undefined ? size === nan : size > infinity)) return Number.NaN;
  const sign = bits & signBit ? -1 : 1;
  if (size === infinity) return sign * Infinity;
  const exponent = size >> fractionBits;
  const fraction = (size & ((1 << fractionBits) - 1)) / 2 ** fractionBits;
  return (
    sign * (exponent === 0 ? fraction * 2 ** (1 - bias) : (1 + fraction) * 2 ** (exponent - bias))
  );
}

/** The bits of a small float, rounded once, to nearest, ties to even. */
export function numberToSmallFloat(dtype: DType, value: number, options: RoundingOptions): number {
  if (dtype === 'float8e8m0') return powerOfTwo(value, options);
  const format = formatOf(dtype);
  const { fractionBits, bias, signBit, nan, largest, infinity, hasMinusZero } = format;
  const isNegative = value < 0 || Object.is(value, -0);
  const sign = isNegative ? signBit : 0;
  if (Number.isNaN(value)) return nan ?? 0;
  const exponent = Math.max(1 - bias, Math.floor(Math.log2(Math.abs(value))));
  const unit = 2 ** (exponent - fractionBits);
  // A double has no fraction from 2^52 on, so that the sum rounds to an integer, ties to even.
  const rounded = (Math.abs(value) / unit + 2 ** 52 - 2 ** 52) * unit;
  if (rounded === 0) return hasMinusZero ? sign : 0;
  if (rounded <= largest) return sign | bitsOf(rounded, format);
  const isFloat8 = dtype.startsWith('float8');
  if ((isFloat8 && options.saturate) || nan === undefined) return sign | bitsOf(largest, format);
  if (infinity !== undefined) return sign | infinity;
  return hasMinusZero ? sign | nan : nan;
}

function bitsOf(magnitude: number, { fractionBits, bias }: FloatFormat): number {
  const exponent = Math.max(1 - bias, Math.floor(Math.log2(magnitude)));
  const significand = magnitude / 2 ** (exponent - fractionBits);
  // A subnormal has no leading one, which otherwise counts as one step of the exponent.
  return (exponent + bias - 1) * 2 ** fractionBits + significand;
}

const single = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(4));

/** float8e8m0 keeps the exponent of a float32, whose sign it ignores. */
function powerOfTwo(value: number, { saturate, roundMode }: RoundingOptions): number {
  single.setFloat32(0, value);
  const bits = single.getUint32(0);
  const exponent = (bits >>> 23) & 0xff;
  if (exponent === 0xff) return 0xff;
  const fraction = bits & 0x7fffff;
  const half = 0x400000;
  const isUp =
    roundMode === 'up'
      ? fraction > 0
      : roundMode === 'nearest' && (fraction > half || (fraction === half && exponent > 0));
  const rounded = exponent + Number(isUp);
  return rounded === 0xff && saturate ? 0xfe : rounded;
}

function formatOf(dtype: DType): FloatFormat {
  const format = SMALL_FLOATS[dtype];
  if (format === undefined) throw new Error(`internal: ${dtype} is no small float`);
  return format;
}
