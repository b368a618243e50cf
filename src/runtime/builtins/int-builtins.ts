import type { BuiltinName } from '../../bytecode/builtins.ts';
import { RuntimeError } from '../../core/errors.ts';
import type { PackedFunction, Value } from '../value.ts';
import { expectInt } from './operand.ts';

/** Arithmetic on ints: exact, or an error beyond 2^53. */
export const intBuiltins = {
  int_add: (a: Value, b: Value) =>
    typeof a === 'number' && typeof b === 'number' ? exact(a + b, '+', a, b) : notInts(a, b),
  int_sub: (a: Value, b: Value) =>
    typeof a === 'number' && typeof b === 'number' ? exact(a - b, '-', a, b) : notInts(a, b),
  int_mul: (a: Value, b: Value) =>
    typeof a === 'number' && typeof b === 'number' ? exact(a * b, '*', a, b) : notInts(a, b),
  int_floordiv: (a: Value, b: Value) =>
    typeof a === 'number' && typeof b === 'number'
      ? exact(Math.floor(a / b), '//', a, b)
      : notInts(a, b),
  int_mod: (a: Value, b: Value) =>
    typeof a === 'number' && typeof b === 'number'
      ? exact(floorMod(a, b), '%', a, b)
      : notInts(a, b),
  int_eq: (a: Value, b: Value) =>
    typeof a === 'number' && typeof b === 'number' ? Number(a === b) : notInts(a, b),
  int_lt: (a: Value, b: Value) =>
    typeof a === 'number' && typeof b === 'number' ? Number(a < b) : notInts(a, b),
} satisfies Partial<Record<BuiltinName, PackedFunction>>;

/** The sign of the remainder is the divisor's; no quotient that could be rounded is multiplied. */
function floorMod(a: number, b: number): number {
  const remainder = a % b;
  return remainder !== 0 && remainder < 0 !== b < 0 ? remainder + b : remainder;
}

function exact(result: number, sign: string, a: number, b: number): number {
  // Adding 0 turns -0, which is no int, into 0.
  if (Number.isSafeInteger(result)) return result + 0;
  throw new RuntimeError({
    where: 'int arithmetic',
    got: `${a} ${sign} ${b}`,
    expected: b === 0 ? 'a divisor other than 0' : 'a result within 2^53',
  });
}

function notInts(a: Value, b: Value): never {
  expectInt(a, 'int arithmetic');
  expectInt(b, 'int arithmetic');
  throw new Error('internal: both operands are ints');
}
