import type { Expr } from '../../../../compiler/ir/expr.ts';
import { type DType, dtypeInfo, isDType } from '../../../../core/tensor/dtype.ts';
import {
  isSmallFloat,
  numberToSmallFloat,
  type RoundingOptions,
} from '../../../../core/tensor/small-floats.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporter, type OperatorImporters, since } from '../../operator-importer.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';

/** An importer but for its version, where one core operator does the work. */
type OneOperator = Omit<OperatorImporter, 'since'>;

export const unary = (op: string): OneOperator => ({
  makes: op,
  import: (node) => node.call(op, [node.input(0)]),
});

const binary = (op: string): OneOperator => ({
  makes: `${op} reshape`,
  import: (node) => node.call(op, [node.input(0), alignedSecondInput(node)]),
});

const variadic = (op: string): OneOperator => ({
  makes: op,
  import: (node) => node.chain(op, node.allInputs()),
});

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

/** Before opset 6 the dtype was a string. */
function targetOf(node: ImportNode): DType {
  if (node.opset >= 6) return dtypeFromOnnx(node.attributes.int('to'), node.where);
  const name = node.attributes.string('to', '').toLowerCase();
  const to = name.replace(/^float$/, 'float32').replace(/^double$/, 'float64');
  if (!isDType(to)) throw node.malformed(`a cast to ${JSON.stringify(to)}`, 'an element type');
  return to;
}

function convert(node: ImportNode, to: DType): Expr {
  const saturate = node.attributes.int('saturate', 1) !== 0;
  const roundMode = node.attributes.string('round_mode', 'up');
  const x = node.input(0);
  if (node.type(x).dtype === to) return x;
  const isSmall = to.startsWith('float8');
  return node.call('cast', [x], isSmall ? { to, saturate, round_mode: roundMode } : { to });
}

function importCast(node: ImportNode): Expr {
  return convert(node, targetOf(node));
}

function importCastLike(node: ImportNode): Expr {
  return convert(node, node.type(node.input(1)).dtype);
}

function importBitCast(node: ImportNode): Expr {
  return node.call('bitcast', [node.input(0)], { to: targetOf(node) });
}

function importBitShift(node: ImportNode): Expr {
  const direction = node.attributes.string('direction', '');
  if (direction !== 'LEFT' && direction !== 'RIGHT') {
    throw node.malformed(`direction ${JSON.stringify(direction)}`, 'LEFT or RIGHT');
  }
  const op = direction === 'LEFT' ? 'shift_left' : 'shift_right';
  return node.call(op, [node.input(0), node.input(1)]);
}

function importIsInf(node: ImportNode): Expr {
  const x = node.input(0);
  const isNegative = node.attributes.bool('detect_negative', true);
  const isPositive = node.attributes.bool('detect_positive', true);
  if (!isNegative && !isPositive) {
    return node.call('broadcast_to', [node.scalar(0, 'bool')], { shape: node.shape(x) });
  }
  const flipped = !isNegative ? x : node.call(isPositive ? 'abs' : 'neg', [x]);
  return node.call('is_positive_infinity', [flipped]);
}

function importWhere(node: ImportNode): Expr {
  return node.call('where', [node.input(0), node.input(1), node.input(2)]);
}

export const ELEMENTWISE_IMPORTERS: OperatorImporters = {
  Abs: { since: 1, ...unary('abs') },
  Acos: { since: 7, ...unary('acos') },
  Acosh: { since: 9, ...unary('acosh') },
  Add: { since: 1, ...binary('add') },
  And: { since: 1, ...binary('bitwise_and') },
  Asin: { since: 7, ...unary('asin') },
  Asinh: { since: 9, ...unary('asinh') },
  Atan: { since: 7, ...unary('atan') },
  Atanh: { since: 9, ...unary('atanh') },
  BitCast: since(26, 'bitcast', importBitCast),
  BitShift: since(11, 'shift_left shift_right', importBitShift),
  BitwiseAnd: { since: 18, ...variadic('bitwise_and') },
  BitwiseNot: { since: 18, ...unary('bitwise_not') },
  BitwiseOr: { since: 18, ...variadic('bitwise_or') },
  BitwiseXor: { since: 18, ...variadic('bitwise_xor') },
  Cast: since(1, 'cast', importCast),
  CastLike: since(15, 'cast', importCastLike),
  Ceil: { since: 1, ...unary('ceil') },
  Cos: { since: 7, ...unary('cos') },
  Cosh: { since: 9, ...unary('cosh') },
  Div: { since: 1, ...binary('div') },
  Equal: { since: 1, ...binary('equal') },
  Erf: { since: 9, ...unary('erf') },
  Exp: { since: 1, ...unary('exp') },
  Floor: { since: 1, ...unary('floor') },
  Greater: { since: 1, ...binary('greater') },
  GreaterOrEqual: { since: 12, ...binary('greater_equal') },
  IsInf: since(10, 'abs is_positive_infinity neg broadcast_to', importIsInf),
  IsNaN: { since: 9, ...unary('is_nan') },
  Less: { since: 1, ...binary('less') },
  LessOrEqual: { since: 12, ...binary('less_equal') },
  Log: { since: 1, ...unary('log') },
  Max: { since: 1, ...variadic('maximum') },
  Mean: since(1, 'add div', importMean),
  Min: { since: 1, ...variadic('minimum') },
  Mod: since(10, 'mod', importMod),
  Mul: { since: 1, ...binary('mul') },
  Neg: { since: 1, ...unary('neg') },
  Not: { since: 1, ...unary('logical_not') },
  Or: { since: 1, ...binary('bitwise_or') },
  Pow: since(1, 'pow cast', importPow),
  Reciprocal: since(1, 'div', importReciprocal),
  Round: { since: 11, ...unary('round') },
  Sign: { since: 9, ...unary('sign') },
  Sin: { since: 7, ...unary('sin') },
  Sinh: { since: 9, ...unary('sinh') },
  Sqrt: { since: 1, ...unary('sqrt') },
  Sub: { since: 1, ...binary('sub') },
  Sum: { since: 1, ...variadic('add') },
  Tan: { since: 7, ...unary('tan') },
  Where: since(9, 'where', importWhere),
  Xor: { since: 1, ...binary('bitwise_xor') },
};
