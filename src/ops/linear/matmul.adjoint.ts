import type { AdjointRule } from '../adjoint/adjoint.ts';

/** da = dy bᵀ and db = aᵀ dy, summed over the batches that were broadcast. Vectors are matrices of one row or column. */
export const matmulAdjoint: AdjointRule = ({ inputs, cotangent, wants, graph }) => {
  const [a, b] = inputs;
  if (a === undefined || b === undefined) return [];
  const isRow = a.shape.length === 1;
  const isColumn = b.shape.length === 1;
  const rows = isRow ? graph.reshape(a, [1, ...a.shape]) : a;
  const columns = isColumn ? graph.reshape(b, [...b.shape, 1]) : b;
  const batch = cotangent.shape.slice(0, cotangent.shape.length - +!isRow - +!isColumn);
  const [m = 1] = rows.shape.slice(-2);
  const n = columns.shape.at(-1) ?? 1;
  const dy = graph.reshape(cotangent, [...batch, m, n]);
  const da = (): ReturnType<typeof graph.matmul> => {
    const product = graph.matmul(dy, graph.transposeLast(columns));
    return graph.reshape(graph.sumTo(product, rows.shape), a.shape);
  };
  const db = (): ReturnType<typeof graph.matmul> => {
    const product = graph.matmul(graph.transposeLast(rows), dy);
    return graph.reshape(graph.sumTo(product, columns.shape), b.shape);
  };
  return [wants(0) ? da() : undefined, wants(1) ? db() : undefined];
};
