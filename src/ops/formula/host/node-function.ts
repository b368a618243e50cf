import { internalError } from '../../../core/errors.ts';
import { numberConverter } from './convert-number.ts';
import { toType, type Value } from './convert-value.ts';
import type {
  BinaryOperator,
  CompareOperator,
  TestNode,
  UnaryOperator,
  IntrinsicName,
} from '../expression.ts';
import { childrenOf, type FunctionNode, type TypedExpression } from '../infer-types.ts';
import { isFloatType, isWideType, type ScalarType } from '../scalar-type.ts';

type NumberFunction = (a: number, b: number, c: number) => number;

type ValueFunction = (a: Value, b: Value, c: Value) => Value;

/** Returns true if the result of the node or an operand is a 64-bit integer. */
export function isWideNode(node: TypedExpression): boolean {
  return isWideType(node.type) || childrenOf(node).some(({ type }) => isWideType(type));
}

/** The function of a node on numbers. Integers are right modulo 2^32. */
export function numberFunction(node: FunctionNode): NumberFunction {
  const { type } = node;
  switch (node.kind) {
    case 'unary':
      return unaryFunction(node.operator, type);
    case 'binary':
      return binaryFunction(node.operator, type);
    case 'compare': {
      const compare = COMPARE[node.operator];
      return (a, b) => (compare(a, b) ? 1 : 0);
    }
    case 'select':
      return (condition, whenTrue, whenFalse) => (condition === 0 ? whenFalse : whenTrue);
    case 'convert':
      return numberConverter(node.x.type, type);
    case 'test': {
      const test = TESTS[node.test];
      return (x) => (test(x) ? 1 : 0);
    }
    case 'intrinsic': {
      const { float, integer } = HOST_INTRINSICS[node.name];
      return isFloatType(type) ? float : (integer ?? missing(node.name, type));
    }
    default:
      return node satisfies never;
  }
}

/** The function of a node where 64-bit integers take part. They are right modulo 2^64. */
export function wideFunction(node: FunctionNode): ValueFunction {
  const { type } = node;
  switch (node.kind) {
    case 'unary': {
      const unary = wideUnaryFunction(node.operator);
      return (x) => unary(BigInt(x));
    }
    case 'binary': {
      const binary = wideBinaryFunction(node.operator);
      return (a, b) => binary(BigInt(a), BigInt(b));
    }
    case 'compare': {
      const compare = COMPARE[node.operator];
      return (a, b) => (compare(a, b) ? 1 : 0);
    }
    case 'select':
      return (condition, whenTrue, whenFalse) => (Number(condition) === 0 ? whenFalse : whenTrue);
    case 'convert':
      return (x) => toType(x, node.x.type, type);
    case 'intrinsic': {
      const wide = HOST_INTRINSICS[node.name].wide ?? missing(node.name, type);
      return (a, b) => wide(BigInt(a), BigInt(b));
    }
    case 'test':
      return missing(node.test, node.x.type);
    default:
      return node satisfies never;
  }
}

function missing(name: string, type: ScalarType): never {
  throw internalError(`no ${name} of ${type}`);
}

type Unary = (x: number) => number;
type Binary = (a: number, b: number) => number;

/**
 * Functions of operators on numbers. Integers may leave their range: the result is right modulo 2^32, as
 * which the caller stores it.
 */
function unaryFunction(operator: UnaryOperator, type: ScalarType): Unary {
  return operator === 'not' && type === 'bool' ? (x) => (x === 0 ? 1 : 0) : UNARY[operator];
}

function binaryFunction(operator: BinaryOperator, type: ScalarType): Binary {
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
const COMPARE: Readonly<
  Record<CompareOperator, (a: number | bigint, b: number | bigint) => boolean>
> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
};

const TESTS: Readonly<Record<TestNode<unknown>['test'], (x: number) => boolean>> = {
  nan: Number.isNaN,
  '+infinity': (x) => x === Infinity,
};

/** An intrinsic on the host: of floats in double precision, of integers modulo 2^32 or 2^64. */
interface HostIntrinsic {
  readonly float: (a: number, b: number) => number;
  readonly integer?: (a: number, b: number) => number;
  readonly wide?: (a: bigint, b: bigint) => bigint;
}

export const HOST_INTRINSICS: Readonly<Record<IntrinsicName, HostIntrinsic>> = {
  exp: { float: Math.exp },
  log: { float: Math.log },
  log1p: { float: Math.log1p },
  sigmoid: { float: (x) => 1 / (1 + Math.exp(-x)) },
  erf: { float: erf },
  sin: { float: Math.sin },
  cos: { float: Math.cos },
  tan: { float: Math.tan },
  asin: { float: Math.asin },
  acos: { float: Math.acos },
  atan: { float: Math.atan },
  sinh: { float: Math.sinh },
  cosh: { float: Math.cosh },
  tanh: { float: Math.tanh },
  asinh: { float: Math.asinh },
  acosh: { float: Math.acosh },
  atanh: { float: Math.atanh },
  pow: { float: floatPower, integer: integerPower, wide: widePower },
  quotient: { float: (a, b) => Math.fround(a / b) },
};

/**
 * The error function in double precision, by the series
 * 2/sqrt(pi) * exp(-x^2) * sum of 2^n x^(2n+1) / (1 * 3 * ... * (2n+1)), whose terms are all of one
 * sign. (DLMF 7.6.2)
 */
export function erf(x: number): number {
  if (Number.isNaN(x)) return x;
  // erfc(6) is 2e-17: below half a unit in the last place of 1.
  if (Math.abs(x) >= 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > Math.abs(sum) * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** As IEEE pow; in JavaScript, 1 to an unknown power and -1 to an infinite one are NaN. */
export function floatPower(a: number, b: number): number {
  return a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b;
}

/** a^b in 32 bits, wrapping; a negative exponent gives what rounding 1 / a^-b towards zero gives. */
export function integerPower(a: number, b: number): number {
  if (b < 0) return a === 1 ? 1 : a === -1 ? (b % 2 === 0 ? 1 : -1) : 0;
  let result = 1;
  let base = a;
  for (let rest = b; rest > 0; rest = Math.floor(rest / 2)) {
    if ((rest & 1) === 1) result = Math.imul(result, base);
    base = Math.imul(base, base);
  }
  return result;
}

/** `integerPower` for 64 bits. */
function widePower(a: bigint, b: bigint): bigint {
  if (b < 0n) return a === 1n ? 1n : a === -1n ? (b % 2n === 0n ? 1n : -1n) : 0n;
  let result = 1n;
  let base = a;
  for (let rest = b; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = BigInt.asUintN(64, result * base);
    base = BigInt.asUintN(64, base * base);
  }
  return result;
}

/**
 * Functions of operators on int64 and uint64. A result may leave the range: it is right modulo 2^64.
 */
function wideUnaryFunction(operator: UnaryOperator): (x: bigint) => bigint {
  return WIDE_UNARY[operator] ?? missingWide(operator);
}

function wideBinaryFunction(operator: BinaryOperator): (a: bigint, b: bigint) => bigint {
  return WIDE_BINARY[operator];
}

function missingWide(operator: string): never {
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
