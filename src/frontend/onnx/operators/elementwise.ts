import { type DType, dtypeInfo } from '../../../core/dtype.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import {
  isSmallFloat,
  numberToSmallFloat,
  type RoundingOptions,
} from '../../../core/small-floats.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';

export const unary =
  (op: string): NodeImporter =>
  (node) =>
    node.call(op, [node.input(0)]);

export const binary =
  (op: string): NodeImporter =>
  (node) =>
    node.call(op, [node.input(0), alignedSecondInput(node)]);

export const variadic =
  (op: string): NodeImporter =>
  (node) =>
    node.chain(op, node.allInputs());

/** Before opset 7 broadcasting was asked for, and `axis` said where the second shape begins. */
function alignedSecondInput(node: ImportNode): Expr {
  const right = node.input(1);
  if (node.opset >= 7) return right;
  const isBroadcast = node.attributes.bool('broadcast');
  const axis = node.attributes.int('axis');
  if (!isBroadcast || axis === undefined) return right;
  const rank = node.shape(node.input(0)).length;
  const shape = node.shape(right);
  const trailing = rank - (axis < 0 ? axis + rank : axis) - shape.length;
  if (trailing < 0) throw node.malformed(`axis ${axis}`, 'an axis within the first input');
  return node.reshape(right, [...shape, ...new Array<number>(trailing).fill(1)]);
}

/** The result has the base's dtype; an integer to a power that is no integer is computed in float32. */
function importPow(node: ImportNode): Expr {
  const base = node.input(0);
  const exponent = alignedSecondInput(node);
  const { dtype } = node.type(base);
  const other = node.type(exponent).dtype;
  const isFloat = (of: DType) => dtypeInfo(of).category === 'float';
  if (isFloat(other) && !isFloat(dtype)) {
    const power = node.call('pow', [cast(node, base, other), exponent]);
    return cast(node, power, dtype);
  }
  return node.call('pow', [base, cast(node, exponent, dtype)]);
}

export function cast(node: ImportNode, x: Expr, to: DType): Expr {
  if (node.type(x).dtype === to) return x;
  return node.call('cast', [x], { to });
}

/** A constant of rank 0 in the dtype of another value. */
export function number(node: ImportNode, like: Expr, value: number): Expr {
  const { dtype } = node.type(like);
  const element = isSmallFloat(dtype) ? numberToSmallFloat(dtype, value, ROUNDING) : value;
  return node.scalar(element, dtype);
}

const ROUNDING: RoundingOptions = { saturate: false, roundMode: 'nearest' };

function importMean(node: ImportNode): Expr {
  const sum = node.chain('add', node.allInputs());
  return node.call('div', [sum, number(node, sum, node.inputs.length)]);
}

function importMod(node: ImportNode): Expr {
  const fmod = node.attributes.bool('fmod');
  return node.call('mod', [node.input(0), node.input(1)], { fmod });
}

function importReciprocal(node: ImportNode): Expr {
  const x = node.input(0);
  return node.call('div', [number(node, x, 1), x]);
}

export const ELEMENTWISE_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  Abs: unary('abs'),
  Acos: unary('acos'),
  Acosh: unary('acosh'),
  Add: binary('add'),
  Asin: unary('asin'),
  Asinh: unary('asinh'),
  Atan: unary('atan'),
  Atanh: unary('atanh'),
  Ceil: unary('ceil'),
  Cos: unary('cos'),
  Cosh: unary('cosh'),
  Div: binary('div'),
  Erf: unary('erf'),
  Exp: unary('exp'),
  Floor: unary('floor'),
  Log: unary('log'),
  Max: variadic('maximum'),
  Mean: importMean,
  Min: variadic('minimum'),
  Mod: importMod,
  Mul: binary('mul'),
  Neg: unary('neg'),
  Pow: importPow,
  Reciprocal: importReciprocal,
  Round: unary('round'),
  Sign: unary('sign'),
  Sin: unary('sin'),
  Sinh: unary('sinh'),
  Sqrt: unary('sqrt'),
  Sub: binary('sub'),
  Sum: variadic('add'),
  Tan: unary('tan'),
};
