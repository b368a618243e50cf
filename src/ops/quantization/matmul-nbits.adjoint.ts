import type { Dim } from '../../core/dims/dim.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { intAttribute } from '../attributes.ts';
import { isFloat } from '../elementwise/number-dtypes.ts';

/**
 * Products by the matrix that the codes stand for, which is unpacked for that in an elementwise chain:
 * what comes back through frozen weights of a few bits costs one product more than the operator.
 */
export const matmulNbitsAdjoint: AdjointRule = (call) => {
  const { inputs, cotangent, wants, graph } = call;
  const [a, codes, scales, zeros] = inputs;
  if (a === undefined || codes === undefined || scales === undefined) return [];
  const units = unitsOf(call, { codes, scales, zeros });
  const [columns = 1, blocks = 1, block = 1] = units.shape;
  const [depth, padded] = [a.shape.at(-1) ?? 1, graph.dims.mul(blocks, block)];
  const scaled = graph.mul(units, graph.reshape(scales, [columns, blocks, 1]));
  const matrix = graph.sliceAxis(graph.reshape(scaled, [columns, padded]), 1, { to: depth });
  const da = wants(0) ? graph.matmul(cotangent, matrix) : undefined;
  if (!wants(2) && !wants(3)) return [da];
  const rows = a.shape.slice(0, -1).reduce((product, dim) => graph.dims.mul(product, dim), 1);
  const ofMatrix = graph.matmul(
    graph.transposeLast(graph.reshape(cotangent, [rows, columns])),
    graph.reshape(a, [rows, depth]),
  );
  const pads = [0, 0, 0, graph.dims.sub(padded, depth)];
  const ofUnits = graph.reshape(graph.call('pad', [ofMatrix], { pads }), units.shape);
  const inBlocks = (x: GraphTensor): GraphTensor => graph.call('reduce_sum', [x], { axes: [2] });
  const ds = wants(2) ? inBlocks(graph.mul(ofUnits, units)) : undefined;
  const hasFloats = zeros !== undefined && isFloat(zeros.dtype);
  const dz = wants(3) && hasFloats ? graph.neg(graph.mul(inBlocks(ofUnits), scales)) : undefined;
  return [da, undefined, ds, dz];
};

/**
 * The same by the matrices of the rows, which are gathered for that: what comes back for a matrix is the sum over the rows
 * that it was multiplied with.
 */
export const gatherMatmulNbitsAdjoint: AdjointRule = (call) => {
  const { inputs, cotangent, wants, graph } = call;
  const [a, codes, scales, indices, zeros] = inputs;
  if (!(a && codes && scales && indices)) return [];
  const [columns = 1, blocks = 1] = scales.shape.slice(1);
  const rows = a.shape.slice(0, -1).reduce((product, dim) => graph.dims.mul(product, dim), 1);
  const last = graph.size([graph.dims.sub(codes.shape[0] ?? 1, 1)], 'int32');
  const most = typeof last === 'number' ? graph.scalar(last, 'int32') : last;
  const positive = graph.call('maximum', [
    graph.reshape(indices, [rows]),
    graph.scalar(0, 'int32'),
  ]);
  const chosen = graph.call('minimum', [positive, most]);
  const allColumns = graph.dims.mul(rows, columns);
  const ofRows = (x: GraphTensor): GraphTensor =>
    graph.reshape(graph.call('gather', [x, chosen], { axis: 0 }), [
      allColumns,
      ...x.shape.slice(2),
    ]);
  const own = { codes: ofRows(codes), scales: ofRows(scales), zeros: zeros && ofRows(zeros) };
  const units = unitsOf(call, own);
  const [depth, padded] = [a.shape.at(-1) ?? 1, graph.dims.mul(blocks, units.shape[2] ?? 1)];
  const scaled = graph.mul(units, graph.reshape(own.scales, [allColumns, blocks, 1]));
  const matrix = graph.sliceAxis(graph.reshape(scaled, [rows, columns, padded]), 2, { to: depth });
  const row = graph.reshape(cotangent, [rows, 1, columns]);
  const da = wants(0) ? graph.reshape(graph.matmul(row, matrix), a.shape) : undefined;
  if (!wants(2) && !wants(4)) return [da];
  const ofMatrix = graph.mul(
    graph.reshape(cotangent, [rows, columns, 1]),
    graph.reshape(a, [rows, 1, depth]),
  );
  const pads = [0, 0, 0, 0, 0, graph.dims.sub(padded, depth)];
  const ofUnits = graph.reshape(graph.call('pad', [ofMatrix], { pads }), units.shape);
  /** Sums over blocks, and over the rows of each matrix. */
  const inMatrices = (x: GraphTensor): GraphTensor => {
    const sums = graph.call('reduce_sum', [x], { axes: [2] });
    return graph.call(
      'scatter_nd',
      [
        graph.full(scales.shape, scales.dtype),
        graph.reshape(chosen, [rows, 1]),
        graph.reshape(sums, [rows, columns, blocks]),
      ],
      { reduction: 'add' },
    );
  };
  const ds = wants(2) ? inMatrices(graph.mul(ofUnits, units)) : undefined;
  const hasFloats = zeros !== undefined && isFloat(zeros.dtype);
  const scaledUnits = (): GraphTensor =>
    graph.neg(graph.mul(ofUnits, graph.reshape(own.scales, [allColumns, blocks, 1])));
  const dz = wants(4) && hasFloats ? inMatrices(scaledUnits()) : undefined;
  return [da, undefined, ds, undefined, dz];
};

interface Weights {
  readonly codes: GraphTensor;
  readonly scales: GraphTensor;
  readonly zeros: GraphTensor | undefined;
}

/** Codes less their zero points, before they are scaled: (columns, blocks, block_size). */
function unitsOf(call: AdjointCall, { codes, scales, zeros }: Weights): GraphTensor {
  const { attributes, graph } = call;
  const [columns = 1, blocks = 1] = scales.shape;
  const block = intAttribute(attributes, 'block_size');
  const numbers = unpacked(call, codes, [columns, blocks, block]);
  if (zeros === undefined) return graph.sub(numbers, 2 ** (intAttribute(attributes, 'bits') - 1));
  if (isFloat(zeros.dtype)) return graph.sub(numbers, graph.reshape(zeros, [columns, blocks, 1]));
  const each = 8 / intAttribute(attributes, 'bits');
  const all = unpacked(call, zeros, [columns, graph.dims.mul(zeros.shape[1] ?? 1, each)]);
  const own = graph.sliceAxis(all, 1, { to: blocks });
  return graph.sub(numbers, graph.reshape(own, [columns, blocks, 1]));
}

/** The numbers in bytes, from the low bits up, in the dtype of the result. */
function unpacked(
  { attributes, output, graph }: AdjointCall,
  bytes: GraphTensor,
  shape: readonly Dim[],
): GraphTensor {
  const bits = intAttribute(attributes, 'bits');
  const starts = Array.from({ length: 8 / bits }, (_, i) => i * bits);
  const shifts = graph.target.constant(HostTensor.from('uint8', [starts.length], starts));
  const alone = graph.reshape(bytes, [...bytes.shape, 1]);
  const shifted = bits === 8 ? alone : graph.call('shift_right', [alone, shifts]);
  const mask = graph.scalar(2 ** bits - 1, 'uint8');
  const numbers = bits === 8 ? shifted : graph.call('bitwise_and', [shifted, mask]);
  return graph.reshape(graph.cast(numbers, output.dtype), shape);
}
