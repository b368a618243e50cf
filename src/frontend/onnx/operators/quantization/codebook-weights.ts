import type { Expr } from '../../../../compiler/ir/expr.ts';
import { HostTensor } from '../../../../core/host-tensor.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { cast } from '../elementwise/elementwise.ts';
import { sliceAlong } from '../movement/slice-along.ts';

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

export const CODEBOOK_WEIGHT_IMPORTERS: OperatorImporters = {
  MatMulBnb4: since(
    1,
    'matmul reshape shift_right bitwise_and cast pad slice gather mul transpose',
    importMatMulBnb4,
  ),
};
