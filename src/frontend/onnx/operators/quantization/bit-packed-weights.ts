import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { HostTensor } from '../../../../core/tensor/host-tensor.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import { alongAxis, indicesInput } from '../../sizes/check-indices.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { cast } from '../elementwise/elementwise.ts';
import { axisSize } from '../indexing/indexing.ts';
import { sliceAlong } from '../movement/slice-along.ts';
import { spread, toFloats } from './quantization.ts';

/** The sizes are attributes; the operands may have fewer axes. */
function importMatMulNBits(node: ImportNode): Expr {
  // How exact sums may be: these are exact to float32.
  node.attributes.ignore('accuracy_level');
  const [k, n] = [node.attributes.int('K', 0), node.attributes.int('N', 0)];
  const bits = node.attributes.int('bits', 4);
  const blockSize = node.attributes.int('block_size', 32);
  if (node.attributes.bool('weight_prepacked')) {
    throw node.unsupported('weights in a hardware-specific order', 'weights in rows');
  }
  if (node.inputs[4] !== undefined) throw node.unsupported('g_idx', 'blocks in order');
  checkBits(node, bits);
  const blocks = Math.ceil(k / blockSize);
  const weights = node.reshape(node.input(1), [n, blocks, (blockSize * bits) / 8]);
  const operands = [node.input(0), weights, node.reshape(node.input(2), [n, blocks])];
  const zeros = node.inputs[3];
  if (zeros !== undefined) {
    const isBitPacked = node.type(zeros).dtype === 'uint8';
    operands.push(node.reshape(zeros, [n, isBitPacked ? Math.ceil((blocks * bits) / 8) : blocks]));
  }
  const product = node.call('matmul_nbits', operands, { bits, block_size: blockSize });
  const bias = node.inputs[5];
  return bias === undefined ? product : node.call('add', [product, bias]);
}

function checkBits(node: ImportNode, bits: number): void {
  if (![2, 4, 8].includes(bits)) throw node.unsupported(`${bits} bits`, '2, 4 or 8');
}

/** Codes of a few bits: one in each element, or several in a byte along the last axis. */
interface Codes {
  readonly expr: Expr;
  readonly bits: number;
  readonly each: number;
}

/**
 * Integers of a few bits, as bytes. Signed ones are counted from the least: WebGPU
 * has no types of less than 8 bits, so that constants of them are packed into bytes here.
 */
function codesOf(node: ImportNode, expr: Expr, declared: number): Codes {
  const { dtype } = node.type(expr);
  checkBits(node, declared);
  if (dtype === 'uint8') return { expr, bits: declared, each: 8 / declared };
  const bits = Number(/^u?int([248])$/.exec(dtype)?.[1] ?? 0);
  if (bits === 0) {
    throw node.unsupported(`weights of ${dtype}`, 'integers of 2, 4 or 8 bits');
  }
  const least = dtype.startsWith('u') ? 0 : 2 ** (bits - 1);
  if (expr.kind !== 'constant') {
    const shifted = node.call('add', [cast(node, expr, 'int32'), node.scalar(least, 'int32')]);
    return { expr: cast(node, shifted, 'uint8'), bits, each: 1 };
  }
  const { shape, data } = expr.value;
  const length = shape.at(-1) ?? 1;
  const each = length % (8 / bits) === 0 ? 8 / bits : 1;
  const bytes = new Uint8Array(data.length / each);
  for (let i = 0; i < data.length; i++) {
    const at = Math.floor(i / each);
    bytes[at] = (bytes[at] ?? 0) | ((Number(data[i]) + least) << ((i % each) * bits));
  }
  const packed = new HostTensor('uint8', [...shape.slice(0, -1), length / each], bytes);
  return { expr: node.constant(packed), bits, each };
}

interface CodeRows {
  readonly indices: Expr;
  readonly axis: number;
  readonly length: Dim | undefined;
}

/** The rows that indices name, one code in each element, `length` along the last axis if known. */
function gatherCodes(
  node: ImportNode,
  { expr, bits, each }: Codes,
  { indices, axis, length }: CodeRows,
): Expr {
  const rows = node.call('gather', [expr, indices], { axis });
  if (each === 1) return rows;
  const shape = node.shape(rows);
  const shifts = Array.from({ length: each }, (_, i) => i * bits);
  const places = node.constant(HostTensor.from('uint8', [each], shifts));
  const single = node.reshape(rows, [...shape, 1]);
  const shifted = node.call('shift_right', [single, places]);
  const codes = node.call('bitwise_and', [shifted, node.scalar(2 ** bits - 1, 'uint8')]);
  const wide = [...shape.slice(0, -1), node.dims.mul(shape.at(-1) ?? 1, each)];
  const flat = node.reshape(codes, wide);
  if (length === undefined || length === wide.at(-1)) return flat;
  return sliceAlong(node, flat, { axis: wide.length - 1, start: 0, end: length });
}

/** Rows of a table of codes in blocks along an axis, as floats. */
function importGatherBlockQuantized(node: ImportNode): Expr {
  const data = node.input(0);
  const scales = node.input(2);
  const rank = node.shape(data).length;
  const declared = node.attributes.int('bits', 4);
  const size = node.attributes.int('block_size', 128);
  const axis = normalizeAxis(node.attributes.int('gather_axis', 0), rank, node.where);
  const blocked = normalizeAxis(node.attributes.int('quantize_axis', 1), rank, node.where);
  const { dtype } = node.type(data);
  if (blocked === axis) throw node.malformed('one axis to gather and quantise', 'two');
  if (dtype === 'uint8' && blocked !== rank - 1) {
    throw node.unsupported('bytes with blocks along an inner axis', 'blocks along the last axis');
  }
  const indices = indicesInput(node, 1, alongAxis(node, axisSize(node, data, axis)));
  const codes = codesOf(node, data, declared);
  const x = gatherCodes(node, codes, { indices, axis, length: undefined });
  const blockAxis = blocked < axis ? blocked : blocked + node.shape(node.input(1)).length - 1;
  const blocks = { like: x, axis: blockAxis, size };
  const rows = node.call('gather', [scales, indices], { axis });
  const scale = spread(node, rows, blocks);
  const given = node.inputs[3];
  // Signed integers are zero without a zero point, and so are unsigned ones that are no bytes.
  const none = dtype.startsWith('int') || dtype === 'uint8' ? 2 ** (codes.bits - 1) : 0;
  if (given === undefined) {
    return toFloats(node, x, { scale, zero: node.scalar(none, 'uint8') });
  }
  const length = node.shape(scales).at(-1);
  const zeros = gatherCodes(node, codesOf(node, given, declared), { indices, axis, length });
  return toFloats(node, x, { scale, zero: spread(node, zeros, blocks) });
}

/** The numbers that codes of four bits stand for: T. Dettmers et al., "QLoRA" (2023). */
const NF4 = [
  -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
  -0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725,
  0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
  0.7229568362236023, 1,
];

/** Floats of two bits of exponent and one of mantissa, over their greatest. */
const FP4_MAGNITUDES = [0, 0.005208333333333333, 2 / 3, 1, 1 / 3, 0.5, 1 / 6, 0.25];

const CODEBOOKS = [[...FP4_MAGNITUDES, ...FP4_MAGNITUDES.map((value) => -value)], NF4];

/** MatMulBnb4: x, codes in pairs with the first in the high bits, and the greatest magnitude of each block. */
function importMatMulBnb4(node: ImportNode): Expr {
  const { attributes } = node;
  attributes.ignore('training_mode');
  const [k, n, size] = ['K', 'N', 'block_size'].map((name) => attributes.int(name, 0));
  if (k === undefined || n === undefined || size === undefined || k < 1 || n < 1 || size < 1) {
    throw node.malformed(`K ${k}, N ${n} and block_size ${size}`, 'numbers above 0');
  }
  const type = attributes.int('quant_type', -1);
  const codebook = CODEBOOKS[type];
  if (codebook === undefined) throw node.malformed(`quant_type ${type}`, '0 for FP4 or 1 for NF4');
  const x = node.input(0);
  const { dtype } = node.type(x);
  const count = n * k;
  const blocks = Math.ceil(count / size);
  const bytes = node.reshape(node.input(1), [Math.ceil(count / 2), 1]);
  const places = node.constant(HostTensor.from('uint8', [2], [4, 0]));
  const shifted = node.call('shift_right', [bytes, places]);
  const codes = node.call('bitwise_and', [shifted, node.scalar(15, 'uint8')]);
  const table = node.table('float32', [16], (code) => codebook[code] ?? 0);
  const flat = node.reshape(cast(node, codes, 'int32'), [Math.ceil(count / 2) * 2]);
  const whole = blocks * size;
  const padded = whole > count ? node.call('pad', [flat], padTo(whole, flat, node)) : flat;
  const cut = sliceAlong(node, padded, { axis: 0, start: 0, end: whole });
  const values = node.call('gather', [table, node.reshape(cut, [blocks, size])], { axis: 0 });
  const scales = cast(node, node.reshape(node.input(2), [blocks, 1]), 'float32');
  const all = node.reshape(node.call('mul', [values, scales]), [whole]);
  const used = sliceAlong(node, all, { axis: 0, start: 0, end: count });
  const weights = cast(node, node.reshape(used, [n, k]), dtype);
  const isTransposed = attributes.bool('transB', true);
  const right = isTransposed ? node.call('transpose', [weights], { perm: [1, 0] }) : weights;
  return node.call('matmul', [x, right]);
}

function padTo(length: number, x: Expr, node: ImportNode) {
  const [size = 0] = node.shape(x);
  return { pads: [0, Math.max(length - node.number(size, 'the number of codes'), 0)] };
}

export const BIT_PACKED_WEIGHT_IMPORTERS: OperatorImporters = {
  GatherBlockQuantized: since(
    1,
    'dequantize gather reshape broadcast_to shift_right bitwise_and slice add cast',
    importGatherBlockQuantized,
  ),
  MatMulBnb4: since(
    1,
    'matmul reshape shift_right bitwise_and cast pad slice gather mul transpose',
    importMatMulBnb4,
  ),
  MatMulNBits: since(1, 'matmul_nbits reshape add', importMatMulNBits),
};
