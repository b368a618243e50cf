import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { toFloats } from '../quantization/quantization.ts';
import { layer } from './recurrent.ts';

/**
 * Weights of bytes, (directions, size, 4 * hidden), as floats in rows: scales and zero points are one for each
 * direction, or one for each column of it too. Inputs and states stay floats, which is more exact than the eight bits
 * that the operator allows for them.
 */
function dequantized(node: ImportNode, weights: number, scales: number): Expr {
  const bytes = node.input(weights);
  const params = [scales, scales + 1].map((index) => {
    const given = node.inputs[index];
    if (given === undefined) return undefined;
    const [directions = 1, columns = 1] = node.shape(given);
    return node.reshape(given, [directions, 1, columns]);
  });
  const [scale, zero] = params;
  if (scale === undefined) throw node.malformed('no scales', `input ${scales}`);
  const floats = toFloats(node, bytes, { scale, zero });
  return node.call('transpose', [floats], { perm: [0, 2, 1] });
}

export const QUANTIZED_RECURRENT_IMPORTERS: OperatorImporters = {
  DynamicQuantizeLSTM: since(
    1,
    'recurrent dequantize reshape transpose matmul broadcast_to slice add concat',
    layer('lstm', (node) => [dequantized(node, 1, 8), dequantized(node, 2, 10)]),
  ),
};
