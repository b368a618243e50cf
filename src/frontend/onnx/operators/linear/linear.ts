import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { importEinsum, multiply } from './einsum.ts';
import { number } from '../elementwise/elementwise.ts';
import { activate } from '../convolution/fused-convolution.ts';

export function importGemm(node: ImportNode): Expr {
  // Before opset 7 it allowed broadcasting of c; it is always allowed here.
  node.attributes.ignore('broadcast');
  const [a, b, c] = [node.input(0), node.input(1), node.inputs[2]];
  const attributes = {
    alpha: node.attributes.float('alpha', 1),
    beta: node.attributes.float('beta', 1),
    trans_a: node.attributes.bool('transA'),
    trans_b: node.attributes.bool('transB'),
  };
  if (!node.type(a).dtype.startsWith('float')) return multiplyIntegers(node, attributes);
  return node.call('gemm', [a, b, ...(c === undefined ? [] : [c])], attributes);
}

interface GemmAttributes {
  readonly alpha: number;
  readonly beta: number;
  readonly trans_a: boolean;
  readonly trans_b: boolean;
}

function multiplyIntegers(node: ImportNode, attributes: GemmAttributes): Expr {
  const { alpha, beta, trans_a: transA, trans_b: transB } = attributes;
  const c = node.inputs[2];
  if (alpha !== 1 || (c !== undefined && beta !== 1)) {
    throw node.unsupported(`alpha ${alpha} and beta ${beta} of integers`, '1 for both');
  }
  const turned = (x: Expr, isTurned: boolean): Expr =>
    isTurned ? node.call('transpose', [x], { perm: [1, 0] }) : x;
  const product = multiply(node, turned(node.input(0), transA), turned(node.input(1), transB));
  return c === undefined ? product : node.call('add', [product, c]);
}

function importMatMul(node: ImportNode): Expr {
  return multiply(node, node.input(0), node.input(1));
}

export const LINEAR_IMPORTERS: OperatorImporters = {
  Det: since(11, 'det', (node) => node.call('det', [node.input(0)])),
  Einsum: since(12, 'matmul reshape reduce_sum transpose pad slice mul', importEinsum),
  Gemm: since(1, 'gemm', importGemm),
  MatMul: since(1, 'matmul mul reshape reduce_sum', importMatMul),
};

/** An operand of FusedMatMul as the product wants it. */
function turned(
  node: ImportNode,
  expr: Expr,
  { transpose, batchFirst }: { readonly transpose: boolean; readonly batchFirst: boolean },
): Expr {
  const rank = node.shape(expr).length;
  if (rank < 2) return expr;
  let perm = Array.from({ length: rank }, (_, axis) => axis);
  // The rows stand before the batch axes.
  if (batchFirst) perm = [...perm.slice(1, -1), 0, rank - 1];
  if (transpose) perm = [...perm.slice(0, -2), ...perm.slice(-2).reverse()];
  return perm.every((from, to) => from === to) ? expr : node.call('transpose', [expr], { perm });
}

function importFusedMatMul(node: ImportNode): Expr {
  const operand = (index: number, side: string): Expr =>
    turned(node, node.input(index), {
      transpose: node.attributes.bool(`trans${side}`),
      batchFirst: node.attributes.bool(`transBatch${side}`),
    });
  const product = multiply(node, operand(0, 'A'), operand(1, 'B'));
  const alpha = node.attributes.float('alpha', 1);
  if (alpha === 1) return product;
  return node.call('mul', [product, number(node, product, alpha)]);
}

/** A Gemm and an activation, with its parameters apart. */
function importFusedGemm(node: ImportNode): Expr {
  const { attributes } = node;
  const product = importGemm(node);
  attributes.ignore('activation_gamma');
  const params = ['alpha', 'beta'].map((name) => attributes.float(`activation_${name}`));
  return activate(node, product, { activation: attributes.string('activation', ''), params });
}

export const MICROSOFT_LINEAR_IMPORTERS: OperatorImporters = {
  FusedGemm: since(
    1,
    'gemm transpose matmul mul reshape reduce_sum add relu tanh sigmoid leaky_relu clip',
    importFusedGemm,
  ),
  FusedMatMul: since(1, 'matmul transpose mul reshape', importFusedMatMul),
};
