import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { number } from '../elementwise/elementwise.ts';
import { activate } from '../convolution/fused-convolution.ts';
import { importGemm } from './linear.ts';
import { multiply } from './products.ts';

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
