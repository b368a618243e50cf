import { isFloatType, isSignedType, isWideType, type ScalarType } from '../scalar-type.ts';

/** How numbers of a type become numbers of another. */
export function numberConverter(from: ScalarType, to: ScalarType): (value: number) => number {
  if (to === 'bool') return (value) => (value === 0 ? 0 : 1);
  if (to === 'f32') return Math.fround;
  if (to === 'f64') return (value) => value;
  if (isFloatType(from)) return integerRounding({ from, to });
  return to === 'u32' ? (value) => value >>> 0 : (value) => value | 0;
}

/** Rounds a number towards zero, within the range of an integer type. NaN gives 0. */
export function roundToInteger(value: number, types: Conversion): number {
  return integerRounding(types)(value);
}

function integerRounding(types: Conversion): (value: number) => number {
  const [low, high] = rangeOf(types);
  return (value) =>
    Number.isNaN(value) ? 0 : Math.trunc(Math.min(Math.max(value, low), high)) + 0;
}

interface Conversion {
  readonly from: ScalarType;
  readonly to: ScalarType;
}

/** The last number of the source's type inside the range, which is as far as shaders get. */
function rangeOf({ from, to }: Conversion): [number, number] {
  const isSigned = isSignedType(to);
  const digits = (isWideType(to) ? 64 : 32) - Number(isSigned);
  const above = Math.max(1, 2 ** (digits - (from === 'f64' ? 53 : 24)));
  return [isSigned ? -(2 ** digits) : 0, 2 ** digits - above];
}
