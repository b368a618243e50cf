import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { ImportNode } from '../../import-node.ts';
import { type OperatorImporters, since } from '../../operator-importer.ts';
import { cast } from '../elementwise/elementwise.ts';
import { multiplyBytes, scaled } from '../quantization/integer-products.ts';
import { attendProjected } from './microsoft-attention.ts';

/**
 * QAttention: input, weight, bias, input_scale, weight_scale, mask_index, input_zero_point, weight_zero_point, past.
 * Bytes are projected exactly; what follows is Attention.
 */
function importQAttention(node: ImportNode): readonly Expr[] {
  const bias = node.input(2);
  const sums = multiplyBytes(node, {
    a: node.input(0),
    b: node.input(1),
    aZero: node.inputs[6],
    bZero: node.inputs[7],
  });
  const [xScale, weightScale] = [3, 4].map((index) => cast(node, node.input(index), 'float32'));
  if (xScale === undefined || weightScale === undefined) throw new Error('internal: no scales');
  const product = scaled(node, sums, node.call('mul', [xScale, weightScale]));
  const { dtype } = node.type(bias);
  return attendProjected(node, {
    projected: node.call('add', [cast(node, product, dtype), bias]),
    mask: node.inputs[5],
    past: node.inputs[8],
    bias: undefined,
  });
}

export const QUANTIZED_ATTENTION_IMPORTERS: OperatorImporters = {
  QAttention: since(
    1,
    'matmul_integer cast mul add scaled_dot_product_attention slice reshape transpose where greater concat less greater_equal bitwise_and broadcast_to arange',
    importQAttention,
  ),
};
