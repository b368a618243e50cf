import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dim.ts';
import { HostTensor } from '../../../../core/host-tensor.ts';
import { normalizeAxis } from '../../../../core/shape.ts';
import { alongAxis, indicesInput } from '../../check-indices.ts';
import type { ImportNode } from '../../import-node.ts';
import { axisSize } from '../indexing/indexing.ts';
import { cast } from '../elementwise/elementwise.ts';
import { spread, toFloats } from './quantization.ts';
import { sliceAlong } from '../movement/slice-along.ts';

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
  /** How many codes an element has. */
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

export const BIT_PACKED_WEIGHT_IMPORTERS: OperatorImporters = {
  GatherBlockQuantized: since(
    1,
    'dequantize gather reshape broadcast_to shift_right bitwise_and slice add cast',
    importGatherBlockQuantized,
  ),
  MatMulNBits: since(1, 'matmul_nbits reshape add', importMatMulNBits),
};
