import { internalError } from '../../core/errors.ts';
import type { BinaryOperator, CompareOperator, TestNode, UnaryOperator } from './expression.ts';
import { isFloatType, type ScalarType } from './scalar-type.ts';

type Unary = (x: number) => number;
type Binary = (a: number, b: number) => number;

/**
 * Functions of operators on numbers. Integers may leave their range: the result is right modulo 2^32, as
 * which the caller stores it.
 */
export function unaryFunction(operator: UnaryOperator, type: ScalarType): Unary {
  return operator === 'not' && type === 'bool' ? (x) => (x === 0 ? 1 : 0) : UNARY[operator];
}

export function binaryFunction(operator: BinaryOperator, type: ScalarType): Binary {
  const found = isFloatType(type) ? FLOAT[operator] : INTEGER[operator];
  if (found === undefined) throw internalError(`${operator} of ${type}`);
  return found;
}

const UNARY: Readonly<Record<UnaryOperator, Unary>> = {
  neg: (x) => -x,
  abs: Math.abs,
  not: (x) => ~x,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  round: roundToEven,
  sqrt: Math.sqrt,
};

function roundToEven(x: number): number {
  return x - Math.floor(x) === 0.5 ? 2 * Math.round(x / 2) : Math.round(x);
}

const SHARED = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  // Both take any number of arguments, and callers pass three.
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
} as const satisfies Partial<Record<BinaryOperator, Binary>>;

const FLOAT: Readonly<Partial<Record<BinaryOperator, Binary>>> = {
  ...SHARED,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  rem: (a, b) => a % b,
};

const INTEGER: Readonly<Record<BinaryOperator, Binary>> = {
  ...SHARED,
  mul: Math.imul,
  div: (a, b) => (b === 0 ? a : Math.trunc(a / b)),
  rem: (a, b) => (b === 0 ? 0 : a % b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => (b >= 32 ? 0 : a << b),
  shr: (a, b) => (b >= 32 ? 0 : a >>> b),
};

/** Comparisons, of numbers as of bigints. */
export const COMPARE: Readonly<
  Record<CompareOperator, (a: number | bigint, b: number | bigint) => boolean>
> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
};

export const TESTS: Readonly<Record<TestNode<unknown>['test'], (x: number) => boolean>> = {
  nan: Number.isNaN,
  '+infinity': (x) => x === Infinity,
};
