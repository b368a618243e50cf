import { UnsupportedError } from '../../core/errors.ts';
import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { boolAttribute, floatAttribute } from '../attributes.ts';

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

/** alpha * op(a) op(b) + beta * c, written out. */
export const gemmAdjoint = byExpansion(({ inputs: [a, b, c], output, attributes, graph }) => {
  if (a === undefined || b === undefined) return output;
  const left = boolAttribute(attributes, 'trans_a') ? graph.transposeLast(a) : a;
  const right = boolAttribute(attributes, 'trans_b') ? graph.transposeLast(b) : b;
  const product = graph.mul(graph.matmul(left, right), floatAttribute(attributes, 'alpha'));
  return c === undefined
    ? product
    : graph.add(product, graph.mul(c, floatAttribute(attributes, 'beta')));
});

/**
 * The cofactors, as determinants of what is left without a row and a column: right for singular
 * matrices too, which have no inverse.
 */
export const detAdjoint: AdjointRule = ({ inputs: [x], cotangent, graph }) => {
  const size = x?.shape.at(-1);
  if (x === undefined || size === 0) return [];
  if (typeof size !== 'number') {
    throw new UnsupportedError({
      where: 'det',
      got: 'a derivative for matrices of a symbolic size',
      expected: 'a size that is a number when the program is compiled',
    });
  }
  const batch = x.shape.slice(0, -2);
  const rank = batch.length;
  const others = Array.from({ length: size }, (_, skipped) =>
    Array.from({ length: size - 1 }, (_, i) => (i < skipped ? i : i + 1)),
  );
  const places = graph.integers(others.flat());
  // (…, size, size - 1, size, size - 1): without a row, without a column.
  const rows = graph.call('gather', [x, places], { axis: rank });
  const both = graph.call('gather', [rows, places], { axis: rank + 1 });
  const split = graph.reshape(both, [...batch, size, size - 1, size, size - 1]);
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const minors = graph.transpose(split, [...axes, rank, rank + 2, rank + 1, rank + 3]);
  const determinants = graph.call('det', [minors]);
  const odd = others.map((_, i) => others.map((_, j) => (i + j) % 2)).flat();
  const isOdd = graph.cast(graph.reshape(graph.integers(odd), [size, size]), 'bool');
  const cofactors = graph.where(isOdd, graph.neg(determinants), determinants);
  return [graph.mul(cofactors, graph.reshape(cotangent, [...batch, 1, 1]))];
};
