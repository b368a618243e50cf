import { ShapeError } from '../../../core/errors.ts';
import { isFloat } from '../../../ops/elementwise/number-dtypes.ts';
import { cotangentType } from '../cotangent-type.ts';
import type { Expr } from '../expr.ts';
import { isOperatorCall, type OperatorCall } from './operator-name.ts';
import type { ScalarOperator } from './scalar-operator.ts';
import { formatType, type FunctionTypeNode, sameType, type Type } from '../type.ts';

/** The function that gives the result of another, a float of rank 0, and its gradient. */
export const GRADIENT = 'gradient';

/** The function that also takes a cotangent of the result, and gives those of the parameters. */
export const VJP = 'vjp';

/** The function that also takes tangents of the parameters, and gives that of the result. */
export const JVP = 'jvp';

/** A function with an adjoint that the program brings along. */
export const CUSTOM_GRADIENT = 'custom_gradient';

/** The value itself, through which no derivative goes. */
export const STOP_GRADIENT = 'stop_gradient';

/** Operators on functions, which the pass `gradient` replaces by functions. */
export const GRADIENT_OPERATORS: readonly ScalarOperator[] = [
  { name: GRADIENT, inputs: ['function'], attributes: {}, result: ([fn]) => gradientType(fn) },
  { name: VJP, inputs: ['function'], attributes: {}, result: ([fn]) => vjpType(fn) },
  { name: JVP, inputs: ['function'], attributes: {}, result: ([fn]) => jvpType(fn) },
  {
    name: CUSTOM_GRADIENT,
    inputs: ['function', 'function'],
    attributes: {},
    result: ([fn, adjoint]) => customType(fn, adjoint),
  },
  { name: STOP_GRADIENT, inputs: ['any'], attributes: {}, result: 'operand' },
];

const NAMES: ReadonlySet<string> = new Set([GRADIENT, VJP, JVP, CUSTOM_GRADIENT]);

/** Returns true for operators that make a function of functions. */
export function isGradientOperator(name: string): boolean {
  return NAMES.has(name);
}

/** Returns true for a call of such an operator. */
export function isGradientCall(expr: Expr): expr is OperatorCall {
  return isOperatorCall(expr) && isGradientOperator(expr.callee.name);
}

/** Returns true for the derivative of a global function: its type has the symbols of that, which are its own. */
export function isDerivativeOfGlobal(expr: Expr): boolean {
  return isGradientCall(expr) && expr.args[0]?.kind === 'global';
}

/** `fn (A, B) -> R` becomes `fn (A, B) -> (R, (A', B'))`. */
function gradientType(type: Type | undefined): Type {
  const fn = functionType(type, GRADIENT);
  const { result } = fn;
  if (result.kind !== 'tensor' || !isFloat(result.dtype) || result.shape.length > 0) {
    throw new ShapeError({
      where: `${GRADIENT}: the result of the function`,
      got: formatType(result),
      expected: 'a float of rank 0',
      remedy: `Use ${VJP} for a function with other results.`,
    });
  }
  return { ...fn, result: pair(result, cotangents(fn)) };
}

/** `fn (A, B) -> R` becomes `fn (A, B, R') -> (R, (A', B'))`. */
function vjpType(type: Type | undefined): Type {
  const fn = functionType(type, VJP);
  const params = [...fn.params, cotangentType(fn.result)];
  return { ...fn, params, result: pair(fn.result, cotangents(fn)) };
}

/** `fn (A, B) -> R` becomes `fn (A, B, A', B') -> (R, R')`. */
function jvpType(type: Type | undefined): Type {
  const fn = functionType(type, JVP);
  const params = [...fn.params, ...fn.params.map(cotangentType)];
  return { ...fn, params, result: pair(fn.result, cotangentType(fn.result)) };
}

/** The adjoint of `fn (A, B) -> R` is `fn (A, B, R, R') -> (A', B')`. */
function customType(type: Type | undefined, given: Type | undefined): Type {
  const fn = functionType(type, CUSTOM_GRADIENT);
  const adjoint = functionType(given, CUSTOM_GRADIENT);
  const expected: FunctionTypeNode = {
    kind: 'function',
    params: [...fn.params, fn.result, cotangentType(fn.result)],
    result: cotangents(fn),
  };
  if (sameType(adjoint, expected)) return fn;
  throw new ShapeError({
    where: `${CUSTOM_GRADIENT}: the adjoint`,
    got: formatType(adjoint),
    expected: formatType(expected),
  });
}

function functionType(type: Type | undefined, where: string): FunctionTypeNode {
  const isPlain = type?.kind === 'function' && (type.typeParams?.length ?? 0) === 0;
  if (isPlain) return type;
  throw new ShapeError({
    where,
    got: type === undefined ? 'nothing' : formatType(type),
    expected: 'a function without type parameters',
    remedy: 'Write a function around it whose parameters have types.',
  });
}

function cotangents({ params }: FunctionTypeNode): Type {
  return { kind: 'tuple', fields: params.map(cotangentType) };
}

function pair(first: Type, second: Type): Type {
  return { kind: 'tuple', fields: [first, second] };
}
