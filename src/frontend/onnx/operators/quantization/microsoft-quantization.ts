import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { averagePool } from '../convolution/convolution.ts';
import { cast, number } from '../elementwise/elementwise.ts';
import { column, multiplyBytes, requantize, scaled } from './integer-products.ts';
import {
  type Quantization,
  quantizeDynamically,
  QUANTIZATION_IMPORTERS,
  toFloats,
  toIntegers,
  zeroPoint,
} from './quantization.ts';
import { softmaxOf } from '../normalization/softmax.ts';

/** The scale and, behind it, the zero point of a whole tensor, from `index` on. */
function paramsAt(node: ImportNode, index: number): Quantization {
  const zero = node.inputs[index + 1];
  return {
    scale: column(node, node.input(index), 0),
    zero: zero && column(node, zero, 0),
  };
}

/** Input `index` as floats; its scale and zero point are the inputs behind it. */
function floatsAt(node: ImportNode, index: number): Expr {
  return toFloats(node, node.input(index), paramsAt(node, index + 1));
}

/** Floats as integers of the dtype of input 0, with the parameters from `index` on. */
function integersAs(node: ImportNode, x: Expr, index: number): Expr {
  return toIntegers(node, x, { ...paramsAt(node, index), dtype: node.type(node.input(0)).dtype });
}

/** An operator on floats of integers that it makes floats of. */
const throughFloats =
  (apply: (node: ImportNode, x: Expr) => Expr): NodeImporter =>
  (node) =>
    integersAs(node, apply(node, floatsAt(node, 0)), 3);

function importQLinearAdd(node: ImportNode): Expr {
  return integersAs(node, node.call('add', [floatsAt(node, 0), floatsAt(node, 3)]), 6);
}

/** The products are exact in int32, so that they are rounded once. */
function importQLinearMul(node: ImportNode): Expr {
  const params = [1, 4, 6].map((index) => paramsAt(node, index));
  const [a, b, y] = params;
  if (a === undefined || b === undefined || y === undefined) throw new Error('internal: no scales');
  const whole = (index: number, { zero }: Quantization): Expr => {
    const x = node.input(index);
    const none = zeroPoint(node, zero, node.type(x).dtype);
    return node.call('sub', [cast(node, x, 'int32'), cast(node, none, 'int32')]);
  };
  const products = node.call('mul', [whole(0, a), whole(3, b)]);
  return requantize(node, products, {
    scales: [a.scale, b.scale, y.scale],
    zero: y.zero,
    dtype: node.type(node.input(0)).dtype,
  });
}

/** A pool over images whose channels may come last. */
const pool =
  (apply: (node: ImportNode, x: Expr) => Expr) =>
  (node: ImportNode, x: Expr): Expr => {
    if (!node.attributes.bool('channels_last')) return apply(node, x);
    const rank = node.shape(x).length;
    const spatial = Array.from({ length: rank - 2 }, (_, axis) => axis + 1);
    const first = node.call('transpose', [x], { perm: [0, rank - 1, ...spatial] });
    const perm = [0, ...spatial.map((axis) => axis + 1), 1];
    return node.call('transpose', [apply(node, first)], { perm });
  };

function softmax(node: ImportNode, x: Expr): Expr {
  const opset = node.attributes.int('opset', 13);
  return softmaxOf(node, x, { axis: node.attributes.int('axis', -1), opset });
}

function leakyRelu(node: ImportNode, x: Expr): Expr {
  return node.call('leaky_relu', [x], { alpha: node.attributes.float('alpha', 0.01) });
}

/** Inputs: the scale and zero point of the result, then tensors with theirs. */
function importQLinearConcat(node: ImportNode): Expr {
  const parts: Expr[] = [];
  for (let index = 2; index < node.inputs.length; index += 3) parts.push(floatsAt(node, index));
  const axis = node.attributes.int('axis', 0);
  const rank = node.shape(node.input(2)).length;
  const joined = node.call('concat', parts, { axis: axis < 0 ? axis + rank : axis });
  const dtype = node.type(node.input(1)).dtype;
  return toIntegers(node, joined, { ...paramsAt(node, 0), dtype });
}

interface Product {
  readonly sums: Expr;
  readonly scales: readonly [Expr, Expr];
  readonly bias: Expr | undefined;
}

/** int32 sums as floats, plus a bias. */
function floatProduct(node: ImportNode, { sums, scales, bias }: Product): Expr {
  const product = scaled(node, sums, node.call('mul', scales));
  return bias === undefined ? product : node.call('add', [product, bias]);
}

function importDynamicQuantizeMatMul(node: ImportNode): Expr {
  const { y: a, scale, zero: aZero } = quantizeDynamically(node, node.input(0));
  const sums = multiplyBytes(node, { a, b: node.input(1), aZero, bZero: node.inputs[3] });
  const scales = [scale, column(node, node.input(2), 0)] as const;
  return floatProduct(node, { sums, scales, bias: node.inputs[4] });
}

function importMatMulIntegerToFloat(node: ImportNode): Expr {
  const [a, b] = [node.input(0), node.input(1)];
  const sums = multiplyBytes(node, { a, b, aZero: node.inputs[4], bZero: node.inputs[5] });
  const scale = column(node, node.input(2), 0);
  if (node.shape(scale).length > 0) throw node.unsupported('several scales of A', 'one');
  const { dtype } = node.type(scale);
  const scales = [scale, column(node, node.input(3), 0)].map((x) => cast(node, x, 'float32'));
  const bias = node.inputs[6];
  const product = scaled(node, sums, node.chain('mul', scales));
  const sum = bias && node.call('add', [product, cast(node, bias, 'float32')]);
  return cast(node, sum ?? product, dtype);
}

/** alpha (A B + C), with C in int32 at the scale of the product. */
function importQGemm(node: ImportNode): Expr {
  const turned = (index: number, attribute: string): Expr => {
    const x = node.input(index);
    return node.attributes.bool(attribute) ? node.call('transpose', [x], { perm: [1, 0] }) : x;
  };
  const operands = { a: turned(0, 'transA'), b: turned(3, 'transB') };
  const zeros = { aZero: node.inputs[2], bZero: node.inputs[5] };
  const product = multiplyBytes(node, { ...operands, ...zeros });
  const c = node.inputs[6];
  const sums = c === undefined ? product : node.call('add', [product, c]);
  const scale = column(node, node.input(1), 0);
  const alpha = number(node, scale, node.attributes.float('alpha', 1));
  const a = node.call('mul', [scale, alpha]);
  const b = column(node, node.input(4), 0);
  if (node.inputs[7] === undefined) {
    return floatProduct(node, { sums, scales: [a, b], bias: undefined });
  }
  const y = paramsAt(node, 7);
  const dtype = y.zero === undefined ? node.type(node.input(0)).dtype : node.type(y.zero).dtype;
  return requantize(node, sums, { scales: [a, b, y.scale], zero: y.zero, dtype });
}

function importMulInteger(node: ImportNode): Expr {
  const whole = (index: number): Expr => {
    const x = cast(node, node.input(index), 'int32');
    const zero = node.inputs[index + 1];
    return zero === undefined ? x : node.call('sub', [x, cast(node, zero, 'int32')]);
  };
  return node.call('mul', [whole(0), whole(2)]);
}

export const MICROSOFT_QUANTIZATION_IMPORTERS: OperatorImporters = {
  ...QUANTIZATION_IMPORTERS,
  DynamicQuantizeMatMul: since(
    1,
    'matmul_integer reduce_max maximum reduce_min minimum sub equal div where neg quantize cast mul add reshape',
    importDynamicQuantizeMatMul,
  ),
  MatMulIntegerToFloat: since(1, 'matmul_integer cast mul reshape add', importMatMulIntegerToFloat),
  MulInteger: since(1, 'mul cast sub', importMulInteger),
  QGemm: since(1, 'matmul_integer cast mul quantize transpose div add', importQGemm),
  QLinearAdd: since(1, 'dequantize add quantize', importQLinearAdd),
  QLinearAveragePool: since(1, 'dequantize avg_pool quantize', throughFloats(pool(averagePool))),
  QLinearConcat: since(1, 'dequantize concat quantize', importQLinearConcat),
  QLinearGlobalAveragePool: since(
    1,
    'dequantize global_avg_pool quantize',
    throughFloats(pool((node, x) => node.call('global_avg_pool', [x]))),
  ),
  QLinearLeakyRelu: since(1, 'dequantize leaky_relu quantize', throughFloats(leakyRelu)),
  QLinearMul: since(1, 'quantize cast sub mul div', importQLinearMul),
  QLinearSigmoid: since(
    1,
    'dequantize sigmoid quantize',
    throughFloats((node, x) => node.call('sigmoid', [x])),
  ),
  QLinearSoftmax: since(1, 'dequantize softmax quantize reshape', throughFloats(softmax)),
};
