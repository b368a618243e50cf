import { internalError } from '../../../core/errors.ts';
import type { BinaryOperator, UnaryOperator } from '../expression.ts';

/**
 * Functions of operators on int64 and uint64. A result may leave the range: it is right modulo 2^64.
 */
export function wideUnaryFunction(operator: UnaryOperator): (x: bigint) => bigint {
  return WIDE_UNARY[operator] ?? missing(operator);
}

export function wideBinaryFunction(operator: BinaryOperator): (a: bigint, b: bigint) => bigint {
  return WIDE_BINARY[operator];
}

function missing(operator: string): never {
  throw internalError(`${operator} of 64-bit integers`);
}

const WIDE_UNARY: Readonly<Partial<Record<UnaryOperator, (x: bigint) => bigint>>> = {
  neg: (x) => -x,
  abs: (x) => (x < 0n ? -x : x),
  not: (x) => ~x,
};

const WIDE_BINARY: Readonly<Record<BinaryOperator, (a: bigint, b: bigint) => bigint>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => (b === 0n ? a : a / b),
  rem: (a, b) => (b === 0n ? 0n : a % b),
  min: (a, b) => (b < a ? b : a),
  max: (a, b) => (a < b ? b : a),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => (b >= 64n ? 0n : a << b),
  shr: (a, b) => (b >= 64n ? 0n : a >> b),
};
