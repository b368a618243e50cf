import type { Expr } from '../../../compiler/ir/expr.ts';
import { dtypeInfo } from '../../../core/tensor/dtype.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import { quantized } from '../quantized/import-codes.ts';
import { scalesOf } from '../quantized/scales.ts';

/** float16 as float32, or codes as numbers. */
function dequantize(node: LiteNode): Expr {
  const x = node.input(0);
  const to = node.outputType();
  if (dtypeInfo(node.type(x).dtype).category === 'float') return node.cast(x, to);
  const { scale, zero } = scalesOf(node, x, node.inputTensors[0]);
  return node.cast(node.call('dequantize', [x, scale, zero]), to);
}

/** Floats, or codes of another scale, as codes. */
function quantize(node: LiteNode): Expr {
  const x = node.input(0);
  const [from, to] = [node.inputTensors[0], node.outputTensors[0]];
  if (to === undefined) throw node.malformed('no output', 'one');
  if (dtypeInfo(node.type(x).dtype).category === 'float') {
    return quantized(node, node.cast(x, 'float32'), to);
  }
  const { scale, zero } = scalesOf(node, x, from);
  return quantized(node, node.call('dequantize', [x, scale, zero]), to);
}

export const STORAGE_IMPORTERS: LiteImporters = {
  DENSIFY: becomes('', (node) => node.input(0)),
  DEQUANTIZE: becomes('dequantize cast', dequantize),
  QUANTIZE: becomes('quantize dequantize', quantize),
};
