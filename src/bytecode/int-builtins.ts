import { floorMod } from '../core/dims/dim.ts';
import { RuntimeError } from '../core/errors.ts';
import type { BuiltinName } from './builtins.ts';

/**
 * The builtins on ints, for the machine and for whoever computes what it would: exact, or RuntimeError
 * for results beyond 2^53 and for a zero divisor. `notInts` throws for operands that are no ints.
 */
export function intBuiltins<T>(notInts: (a: T, b: T) => never) {
  return {
    int_add: (a: T, b: T) =>
      typeof a === 'number' && typeof b === 'number' ? exact(a + b, '+', a, b) : notInts(a, b),
    int_sub: (a: T, b: T) =>
      typeof a === 'number' && typeof b === 'number' ? exact(a - b, '-', a, b) : notInts(a, b),
    int_mul: (a: T, b: T) =>
      typeof a === 'number' && typeof b === 'number' ? exact(a * b, '*', a, b) : notInts(a, b),
    int_floordiv: (a: T, b: T) =>
      typeof a === 'number' && typeof b === 'number'
        ? exact(Math.floor(a / b), '//', a, b)
        : notInts(a, b),
    int_mod: (a: T, b: T) =>
      typeof a === 'number' && typeof b === 'number'
        ? exact(floorMod(a, b), '%', a, b)
        : notInts(a, b),
    int_eq: (a: T, b: T) =>
      typeof a === 'number' && typeof b === 'number' ? Number(a === b) : notInts(a, b),
    int_lt: (a: T, b: T) =>
      typeof a === 'number' && typeof b === 'number' ? Number(a < b) : notInts(a, b),
  } satisfies Partial<Record<BuiltinName, (a: T, b: T) => number>>;
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
