import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { importEinsum } from './einsum.ts';
import { multiply } from './products.ts';

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
