import { internalError } from '../../core/errors.ts';
import { numberConverter } from './convert-number.ts';
import { toType, type Value } from './convert-value.ts';
import { HOST_INTRINSICS } from './host-intrinsics.ts';
import { childrenOf, type FunctionNode, type TypedExpression } from './infer-types.ts';
import { binaryFunction, COMPARE, TESTS, unaryFunction } from './number-functions.ts';
import { isFloatType, isWideType, type ScalarType } from './scalar-type.ts';
import { wideBinaryFunction, wideUnaryFunction } from './wide-functions.ts';

export type NumberFunction = (a: number, b: number, c: number) => number;

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
