import { roundToInteger } from './convert-number.ts';
import { isFloatType, type ScalarType } from '../scalar-type.ts';

/** A value as the host computes it: int64 and uint64 as bigints, bool as 0 or 1. */
export type Value = number | bigint;

/** A value of a type as another type; see `ConvertNode`. */
export function toType(value: Value, from: ScalarType, to: ScalarType): Value {
  if (to === 'bool') return Number(Number(value) !== 0);
  if (to === 'f32') return Math.fround(toFloat32(value));
  if (to === 'f64') return Number(value);
  const whole =
    typeof value === 'number' && isFloatType(from) ? roundToInteger(value, { from, to }) : value;
  return wrapped(whole, to);
}

/** The low bits of an integer, as many as its type has. Other types stay as they are. */
export function wrapped(value: Value, type: ScalarType): Value {
  switch (type) {
    case 'i32':
      return typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : value | 0;
    case 'u32':
      return typeof value === 'bigint' ? Number(BigInt.asUintN(32, value)) : value >>> 0;
    case 'i64':
      return BigInt.asIntN(64, BigInt(value));
    case 'u64':
      return BigInt.asUintN(64, BigInt(value));
    case 'f32':
    case 'f64':
    case 'bool':
      return value;
    default:
      return type satisfies never;
  }
}

/** To nearest, ties to even, in one step: 64-bit integers have more digits than a double. */
export function toFloat32(value: Value): number {
  if (typeof value === 'number') return value;
  const size = value < 0n ? -value : value;
  if (size < 2n ** 53n) return Number(value);
  const excess = BigInt(Math.max(0, size.toString(2).length - 40));
  const kept = size >> excess;
  const isInexact = kept << excess !== size;
  const rounded = Math.fround(Number(isInexact ? kept | 1n : kept) * 2 ** Number(excess));
  return value < 0n ? -rounded : rounded;
}
