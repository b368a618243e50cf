import { FLOAT, plus, times } from '../../wasm/address.ts';
import { apply, type Expression, f32, i32, load, type Local } from '../../wasm/expression.ts';
import type { NbitsProblem } from './matmul-nbits-problem.ts';

/** The problem and how its codes are read. */
export interface Codes extends NbitsProblem {
  /** How many codes a byte has. */
  readonly each: number;
  /** Bytes that are read together, all of one block: 16, 8 or 4. */
  readonly chunk: number;
  readonly blockBytes: number;
  /** Elements of a row with what is behind the last one in its block. */
  readonly depth: number;
}

/** Codes of a slot of all bytes of a vector, in bytes of their own; `bytes` is a local. Bytes have no shift of their own in most processors. */
export function codesOfSlot(bits: number, bytes: Expression, slot: number): Expression {
  if (bits === 8) return bytes;
  const moved = slot === 0 ? bytes : apply('i16x8.shr_u', bytes, i32(slot * bits));
  return apply('v128.and', moved, apply('i8x16.splat', i32(2 ** bits - 1)));
}

/** Bytes of the zero points of a column. */
export const zeroStride = ({ zeros, zeroBytes, blocks }: NbitsProblem): number =>
  zeros === 'packed' ? zeroBytes : blocks * FLOAT;

/** Bytes that columns have of each input but the first: codes, scales and zero points. */
export const bytesOfColumns = (codes: Codes, count: number): readonly number[] => [
  count * codes.blocks * codes.blockBytes,
  count * codes.blocks * FLOAT,
  count * zeroStride(codes),
];

/** Where codes, scales and zero points of a column begin; without zero points that of the scales stands for theirs. */
export const placesOfColumn = (
  codes: Codes,
  [b, scales, zeros]: readonly [Expression, Expression, Expression | undefined],
  column: Expression,
): readonly Expression[] => [
  plus(b, times(column, codes.blocks * codes.blockBytes)),
  plus(scales, times(column, codes.blocks * FLOAT)),
  plus(zeros ?? scales, times(column, zeroStride(codes))),
];

/**
 * The number that is subtracted from the decoded codes of a block: its zero point, minus half of
 * the range.
 */
export function zeroPoint({ zeros, bits, each }: Codes, place: Local, block: Local): Expression {
  const middle = 2 ** (bits - 1);
  if (zeros === 'none') return f32(0);
  if (zeros === 'floats') {
    return apply('f32.sub', load('f32', plus(place, times(block, FLOAT))), f32(middle));
  }
  const byte = load('i8_u', plus(place, apply('i32.div_u', block, i32(each))));
  const shift = times(apply('i32.rem_u', block, i32(each)), bits);
  const code = apply('i32.and', apply('i32.shr_u', byte, shift), i32(2 ** bits - 1));
  return apply('f32.convert_i32_s', plus(code, -middle));
}
