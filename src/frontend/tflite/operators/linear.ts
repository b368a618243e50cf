import type { Expr } from '../../../compiler/ir/expr.ts';
import { countElements } from '../../../core/dims/dim-context.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import { activate } from './activation.ts';

/** x (..., K) by weights (N, K), and a bias (N). */
function fullyConnected(node: LiteNode): Expr {
  const { activation, format, keepDims } = node.options('fullyConnected');
  if (format !== 0) throw node.unsupported(`weights in format ${format}`, 'rows of weights');
  const [x, weights, bias] = [node.input(0), node.input(1), node.inputs[2]];
  const [outputs = 1, inputs = 1, ...rest] = node.shape(weights);
  if (rest.length > 0) throw node.malformed(`weights of ${rest.length + 2} axes`, '2');
  const shape = node.shape(x);
  const rows = node.dims.floordiv(countElements(shape, node.dims), inputs);
  const operands = [node.reshape(x, [rows, inputs]), weights];
  const product = node.call('gemm', bias === undefined ? operands : [...operands, bias], {
    trans_b: true,
  });
  const result = activate(node, product, activation);
  return keepDims ? node.reshape(result, [...shape.slice(0, -1), outputs]) : result;
}

function batchMatMul(node: LiteNode): Expr {
  const { adjointX, adjointY } = node.options('batchMatMul');
  const operands = [adjointX, adjointY].map((isAdjoint, i) => {
    const x = node.input(i);
    const rank = node.shape(x).length;
    if (rank < 2) throw node.malformed(`an operand of ${rank} axes`, 'matrices');
    const axes = Array.from({ length: rank }, (_, axis) => axis);
    return isAdjoint
      ? node.transpose(x, axes.with(rank - 2, rank - 1).with(rank - 1, rank - 2))
      : x;
  });
  return node.call('matmul', operands);
}

export const LINEAR_IMPORTERS: LiteImporters = {
  BATCH_MATMUL: becomes('matmul transpose', batchMatMul),
  FULLY_CONNECTED: becomes('gemm reshape', fullyConnected),
};
