import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { intAttribute } from '../attributes.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';

/** Products by the matrix that the codes stand for, which the operator itself gives of unit vectors. */
export const matmulNbitsAdjoint: AdjointRule = (call) => {
  const { inputs, cotangent, wants, graph } = call;
  const [a, codes, scales, zeros] = inputs;
  if (a === undefined || codes === undefined || scales === undefined) return [];
  const rest = zeros === undefined ? [] : [zeros];
  const matrix = graph.transposeLast(unpacked(call, [codes, scales, ...rest]));
  const da = wants(0) ? graph.matmul(cotangent, matrix) : undefined;
  if (!wants(2) && !wants(3)) return [da];
  const count = (shape: GraphTensor['shape']): GraphTensor['shape'][number] =>
    shape.reduce((product, dim) => graph.dims.mul(product, dim), 1);
  const [depth = 1, columns = 1] = [a.shape.at(-1), cotangent.shape.at(-1)];
  const rows = count(a.shape.slice(0, -1));
  // The cotangent of the matrix, (columns, depth).
  const dw = graph.matmul(
    graph.transposeLast(graph.reshape(cotangent, [rows, columns])),
    graph.reshape(a, [rows, depth]),
  );
  const ones = graph.full(scales.shape, scales.dtype, 1);
  const units = graph.transposeLast(unpacked(call, [codes, ones, ...rest]));
  const ds = wants(2) ? blockSums(call, graph.mul(dw, units), scales) : undefined;
  const isFloatZero = zeros !== undefined && isFloat(zeros.dtype);
  const dz =
    wants(3) && isFloatZero ? graph.neg(graph.mul(blockSums(call, dw, scales), scales)) : undefined;
  return [da, undefined, ds, dz];
};

/** The matrix (depth, columns). */
function unpacked(
  { inputs: [a], attributes, output, graph }: AdjointCall,
  weights: readonly GraphTensor[],
): GraphTensor {
  const depth = a?.shape.at(-1) ?? 1;
  const places = graph.count(depth);
  const isOne = graph.equal(graph.reshape(places, [depth, 1]), graph.reshape(places, [1, depth]));
  const unit = graph.cast(isOne, a?.dtype ?? output.dtype);
  return graph.call('matmul_nbits', [unit, ...weights], attributes);
}

/** Sums of (columns, depth) over the blocks of the depth. */
function blockSums(
  { attributes, graph }: AdjointCall,
  x: GraphTensor,
  { shape }: GraphTensor,
): GraphTensor {
  const block = intAttribute(attributes, 'block_size');
  const [columns = 1, blocks = 1] = shape;
  const missing = graph.dims.sub(graph.dims.mul(blocks, block), x.shape[1] ?? 1);
  const padded = graph.call('pad', [x], { pads: [0, 0, 0, missing] });
  const split = graph.reshape(padded, [columns, blocks, block]);
  return graph.call('reduce_sum', [split], { axes: [2] });
}
