import type { TensorType } from '../../core/primitive-function.ts';
import { call } from '../ir/build.ts';
import type { Expr } from '../ir/expr.ts';
import { argsOf, operatorCall, spanOfCall } from '../ir/operator-call.ts';
import { rewriteBodies } from '../ir/visit.ts';
import type { TypeInference } from '../inference/type-inference.ts';
import type { Pass } from './pass.ts';
import { recognizeAttention } from './recognize-attention.ts';

/**
 * Finds operators that exporters spell out in smaller ones: layer normalisation, GELU, attention. One kernel
 * then does what would take several, for their parts read a value that others read too.
 */
export const recognizeOperators: Pass = {
  name: 'recognize-operators',
  run(module, { types }) {
    const recognized = rewriteBodies(module, (expr) => recognize(expr, types) ?? expr);
    return recognizeAttention(recognized, types);
  },
};

function recognize(expr: Expr, types: TypeInference): Expr | undefined {
  if (operatorCall(expr, 'div') !== undefined) return layerNorm(expr, types);
  if (operatorCall(expr, 'mul') !== undefined) return gelu(expr, types);
  return undefined;
}

/** (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon), along the last axis. */
function layerNorm(expr: Expr, types: TypeInference): Expr | undefined {
  const [centered, deviation] = argsOf(expr, 'div');
  const [x, mean] = argsOf(centered, 'sub');
  const [variance] = argsOf(deviation, 'sqrt');
  if (x === undefined || argsOf(mean, 'reduce_mean')[0] !== x) return undefined;
  const type = floatType(x, types);
  if (type === undefined || !isMeanOfRows(mean, type)) return undefined;
  const sum = splitConstant(argsOf(variance, 'add'), type);
  if (sum === undefined || !isMeanOfRows(sum.rest, type)) return undefined;
  const [squares] = argsOf(sum.rest, 'reduce_mean');
  const difference = squareRoot(squares, type);
  const [left, right] = argsOf(difference, 'sub');
  if (left !== x || right !== mean) return undefined;
  return call('layer_norm', [x], { epsilon: sum.value }, spanOfCall(expr));
}

function isMeanOfRows(expr: Expr | undefined, { shape }: TensorType): boolean {
  const { attributes } = operatorCall(expr, 'reduce_mean') ?? {};
  const axes = attributes?.['axes'];
  if (!Array.isArray(axes) || axes.length !== 1 || attributes?.['keepdims'] !== true) return false;
  return axes[0] === -1 || axes[0] === shape.length - 1;
}

/** What a square is the square of. */
function squareRoot(expr: Expr | undefined, type: TensorType): Expr | undefined {
  const [base, exponent] = argsOf(expr, 'pow');
  if (base !== undefined) return constantNumber(exponent, type) === 2 ? base : undefined;
  const [left, right] = argsOf(expr, 'mul');
  return left === right ? left : undefined;
}

/** 0.5 x (1 + erf(x / sqrt(2))), or its approximation by tanh, the factors in any order. */
function gelu(expr: Expr, types: TypeInference): Expr | undefined {
  const type = floatType(expr, types);
  const factors = factorsOf(expr);
  if (type === undefined || factors.length !== 3) return undefined;
  const half = factors.findIndex((factor) => isNear(constantNumber(factor, type), 0.5));
  const rest = factors.filter((_, i) => i !== half);
  if (half < 0) return undefined;
  for (const [i, x] of rest.entries()) {
    const sum = splitConstant(argsOf(rest[1 - i], 'add'), type);
    if (sum === undefined || sum.value !== 1 || !hasType(x, type, types)) continue;
    const approximate = approximationOf(sum.rest, x, type);
    if (approximate !== undefined) return call('gelu', [x], { approximate }, spanOfCall(expr));
  }
  return undefined;
}

function approximationOf(expr: Expr, x: Expr, type: TensorType): string | undefined {
  const [scaled] = argsOf(expr, 'erf');
  if (scaled !== undefined) {
    const factor = scaleOf(scaled, x, type);
    return isNear(factor, Math.SQRT1_2) ? 'none' : undefined;
  }
  const [inner] = argsOf(expr, 'tanh');
  const product = splitConstant(argsOf(inner, 'mul'), type);
  if (product === undefined || !isNear(product.value, Math.sqrt(2 / Math.PI))) return undefined;
  const terms = argsOf(product.rest, 'add');
  const cubic = splitConstant(argsOf(terms[1 - terms.indexOf(x)], 'mul'), type);
  if (!terms.includes(x) || cubic === undefined || !isNear(cubic.value, 0.044715)) return undefined;
  const [base, exponent] = argsOf(cubic.rest, 'pow');
  return base === x && constantNumber(exponent, type) === 3 ? 'tanh' : undefined;
}

/** The number by which an expression is x times as large. */
function scaleOf(expr: Expr, x: Expr, type: TensorType): number | undefined {
  const [dividend, divisor] = argsOf(expr, 'div');
  const size = constantNumber(divisor, type);
  if (dividend === x && size !== undefined) return 1 / size;
  const product = splitConstant(argsOf(expr, 'mul'), type);
  return product?.rest === x ? product.value : undefined;
}

/** The operands of a product and of the products among them. */
function factorsOf(expr: Expr): readonly Expr[] {
  return argsOf(expr, 'mul').flatMap((factor) => {
    const inner = argsOf(factor, 'mul');
    return inner.length === 0 ? [factor] : inner;
  });
}

/** The constant and the other of two operands. */
function splitConstant(
  [left, right]: readonly Expr[],
  type: TensorType,
): { readonly value: number; readonly rest: Expr } | undefined {
  if (left === undefined || right === undefined) return undefined;
  const value = constantNumber(right, type);
  if (value !== undefined) return { value, rest: left };
  const first = constantNumber(left, type);
  return first === undefined ? undefined : { value: first, rest: right };
}

/** The only element of a constant that broadcasting to the type does not widen. */
function constantNumber(expr: Expr | undefined, { shape }: TensorType): number | undefined {
  if (expr?.kind !== 'constant' || expr.value.elementCount !== 1) return undefined;
  return expr.value.shape.length <= shape.length ? Number(expr.value.elements[0]) : undefined;
}

/** Exporters round such constants to float32 or to a few digits. */
function isNear(value: number | undefined, wanted: number): boolean {
  return value !== undefined && Math.abs(value - wanted) <= 1e-6 * wanted;
}

function floatType(expr: Expr, types: TypeInference): TensorType | undefined {
  const type = types.of(expr);
  return type.kind === 'tensor' && type.dtype === 'float32' ? type : undefined;
}

function hasType(expr: Expr, type: TensorType, types: TypeInference): boolean {
  return floatType(expr, types)?.shape.length === type.shape.length;
}
