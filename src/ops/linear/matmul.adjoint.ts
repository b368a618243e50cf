import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';

/** da = dy bᵀ and db = aᵀ dy, summed over batches that were broadcast. */
export const matmulAdjoint: AdjointRule = (call) => {
  const [a, b] = call.inputs;
  if (a === undefined || b === undefined) return [];
  const isMatrix = a.shape.length === 2 && b.shape.length === 2;
  return isMatrix ? ofMatrices(call, a, b) : ofBatches(call, a, b);
};

/** `gemm` reads transposed operands where they are. */
function ofMatrices(
  { cotangent: dy, wants, graph }: AdjointCall,
  a: GraphTensor,
  b: GraphTensor,
): readonly (GraphTensor | undefined)[] {
  return [
    wants(0) ? graph.call('gemm', [dy, b], { trans_b: true }) : undefined,
    wants(1) ? graph.call('gemm', [a, dy], { trans_a: true }) : undefined,
  ];
}

/** Vectors are matrices of one row or column. */
function ofBatches(
  { cotangent, wants, graph }: AdjointCall,
  a: GraphTensor,
  b: GraphTensor,
): readonly (GraphTensor | undefined)[] {
  const isRow = a.shape.length === 1;
  const isColumn = b.shape.length === 1;
  const rows = isRow ? graph.reshape(a, [1, ...a.shape]) : a;
  const columns = isColumn ? graph.reshape(b, [...b.shape, 1]) : b;
  const own = (isRow ? 0 : 1) + (isColumn ? 0 : 1);
  const batch = cotangent.shape.slice(0, cotangent.shape.length - own);
  const [m = 1] = rows.shape.slice(-2);
  const n = columns.shape.at(-1) ?? 1;
  const dy = graph.reshape(cotangent, [...batch, m, n]);
  const summed = (product: GraphTensor, matrix: GraphTensor, of: GraphTensor): GraphTensor =>
    graph.reshape(graph.sumTo(product, matrix.shape), of.shape);
  return [
    wants(0) ? summed(graph.matmul(dy, graph.transposeLast(columns)), rows, a) : undefined,
    wants(1) ? summed(graph.matmul(graph.transposeLast(rows), dy), columns, b) : undefined,
  ];
}
