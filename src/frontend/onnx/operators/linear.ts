import type { Expr } from '../../../compiler/ir/expr.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';
import { importEinsum } from './einsum.ts';
import { multiply } from './products.ts';

function importGemm(node: ImportNode): Expr {
  // Before opset 7 it allowed broadcasting of c; it is always allowed here.
  node.attributes.ignore('broadcast');
  const c = node.inputs[2];
  return node.call('gemm', [node.input(0), node.input(1), ...(c === undefined ? [] : [c])], {
    alpha: node.attributes.float('alpha', 1),
    beta: node.attributes.float('beta', 1),
    trans_a: node.attributes.bool('transA'),
    trans_b: node.attributes.bool('transB'),
  });
}

function importMatMul(node: ImportNode): Expr {
  return multiply(node, node.input(0), node.input(1));
}

export const LINEAR_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  Det: (node) => node.call('det', [node.input(0)]),
  Einsum: importEinsum,
  Gemm: importGemm,
  MatMul: importMatMul,
};
