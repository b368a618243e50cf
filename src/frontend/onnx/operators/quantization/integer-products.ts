import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { DType } from '../../../../core/tensor/dtype.ts';
import type { ImportNode } from '../../import-node.ts';
import { kernelOfWeights, unitAxis, asPlane } from '../convolution/convolution.ts';
import { cast } from '../elementwise/elementwise.ts';
import { toIntegers } from './quantization.ts';
import { importWindow } from '../convolution/window.ts';

/** A pair of operands of bytes with what has to be taken from them. */
interface IntegerOperands {
  readonly a: Expr;
  readonly b: Expr;
  readonly aZero: Expr | undefined;
  readonly bZero: Expr | undefined;
}

function isZero(expr: Expr | undefined): boolean {
  return (
    expr === undefined ||
    (expr.kind === 'constant' && expr.value.data.every((element) => Number(element) === 0))
  );
}

/** The operands of an integer operator, without zero points that are zero. */
function integerArgs(node: ImportNode, { a, b, aZero, bZero }: IntegerOperands): Expr[] {
  const none = node.scalar(0, node.type(a).dtype);
  const right = bZero === undefined || isZero(bZero) ? [] : [bZero];
  const left = aZero === undefined || isZero(aZero) ? right.map(() => none) : [aZero];
  return [a, b, ...left, ...right];
}

/** Zero points of the rows of a, which may have axes of one element around them. */
function flat(node: ImportNode, zero: Expr | undefined): Expr | undefined {
  if (zero === undefined) return undefined;
  const long = node.shape(zero).filter((dim) => dim !== 1);
  return long.length > 1 || node.shape(zero).length < 2 ? zero : node.reshape(zero, long);
}

/** Multiplies matrices of bytes; the product is int32. */
export function multiplyBytes(node: ImportNode, operands: IntegerOperands): Expr {
  const { aZero, bZero } = operands;
  const args = { ...operands, aZero: flat(node, aZero), bZero: flat(node, bZero) };
  return node.call('matmul_integer', integerArgs(node, args));
}

function importMatMulInteger(node: ImportNode): Expr {
  const [a, b] = [node.input(0), node.input(1)];
  return multiplyBytes(node, { a, b, aZero: node.inputs[2], bZero: node.inputs[3] });
}

/** The convolution in int32, which one spatial axis has as two, the first of size 1. */
function convolveBytes(node: ImportNode, operands: IntegerOperands): Expr {
  const { a: x, b: w } = operands;
  const window = importWindow(node, x, kernelOfWeights(node, w));
  const { strides, pads, dilations } = window;
  const groups = node.attributes.int('group', 1);
  if (strides.length !== 1) {
    const attributes = { strides, pads, dilations, groups };
    return node.call('conv_integer', integerArgs(node, operands), attributes);
  }
  const planes = integerArgs(node, { ...operands, a: unitAxis(node, x), b: unitAxis(node, w) });
  const result = node.call('conv_integer', planes, { ...asPlane(window), groups });
  return node.reshape(result, node.shape(result).toSpliced(2, 1));
}

function importConvInteger(node: ImportNode): Expr {
  const [a, b] = [node.input(0), node.input(1)];
  return convolveBytes(node, { a, b, aZero: node.inputs[2], bZero: node.inputs[3] });
}

/** A vector with `trailing` axes of one element behind it; what has one element without axes. */
export function column(node: ImportNode, param: Expr, trailing: number): Expr {
  const shape = node.shape(param);
  if (shape.length !== 1) return param;
  if (shape[0] === 1) return node.reshape(param, []);
  return node.reshape(param, [...shape, ...new Array<number>(trailing).fill(1)]);
}

/** int32 times a scale, as floats. */
export function scaled(node: ImportNode, sums: Expr, scale: Expr): Expr {
  return node.call('mul', [cast(node, sums, 'float32'), scale]);
}

interface Requantization {
  /** Scales of the two operands and of the result, which broadcast. */
  readonly scales: readonly [Expr, Expr, Expr];
  readonly zero: Expr | undefined;
  readonly dtype: DType;
}

/** int32 sums as integers of another scale: times one number, rounded once. */
export function requantize(node: ImportNode, sums: Expr, to: Requantization): Expr {
  const [a, b, y] = to.scales.map((scale) => cast(node, scale, 'float32'));
  if (a === undefined || b === undefined || y === undefined) throw new Error('internal: no scales');
  const multiplier = node.call('div', [node.call('mul', [a, b]), y]);
  const { zero, dtype } = to;
  return toIntegers(node, scaled(node, sums, multiplier), { scale: node.scalar(1), zero, dtype });
}

function importQLinearMatMul(node: ImportNode): Expr {
  const [a, b] = [node.input(0), node.input(3)];
  const sums = multiplyBytes(node, { a, b, aZero: node.input(2), bZero: node.input(5) });
  const zero = node.input(7);
  return requantize(node, sums, {
    scales: [
      column(node, node.input(1), 1),
      column(node, node.input(4), 0),
      column(node, node.input(6), 1),
    ],
    zero: column(node, zero, 1),
    dtype: node.type(zero).dtype,
  });
}

function importQLinearConv(node: ImportNode): Expr {
  const [x, w] = [node.input(0), node.input(3)];
  const operands = { a: x, b: w, aZero: node.input(2), bZero: node.input(5) };
  const spatial = node.shape(x).length - 2;
  const sums = convolveBytes(node, operands);
  const bias = node.inputs[8];
  const biased =
    bias === undefined ? sums : node.call('add', [sums, channels(node, bias, spatial)]);
  const zero = node.input(7);
  return requantize(node, biased, {
    scales: [
      column(node, node.input(1), spatial),
      column(node, node.input(4), spatial),
      column(node, node.input(6), spatial),
    ],
    zero: column(node, zero, spatial),
    dtype: node.type(zero).dtype,
  });
}

/** One value for each channel, whatever their number. */
function channels(node: ImportNode, vector: Expr, spatial: number): Expr {
  return node.reshape(vector, [...node.shape(vector), ...new Array<number>(spatial).fill(1)]);
}

export const INTEGER_PRODUCT_IMPORTERS: OperatorImporters = {
  ConvInteger: since(10, 'conv_integer', importConvInteger),
  MatMulInteger: since(10, 'matmul_integer', importMatMulInteger),
  QLinearConv: since(10, 'conv_integer cast reshape mul div quantize add', importQLinearConv),
  QLinearMatMul: since(10, 'matmul_integer cast reshape mul div quantize', importQLinearMatMul),
};
