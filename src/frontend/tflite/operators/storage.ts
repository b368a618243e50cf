import type { Expr } from '../../../compiler/ir/expr.ts';
import { dtypeInfo } from '../../../core/tensor/dtype.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import { scalesOf } from '../quantized/scales.ts';

/** float16 as float32, or codes as numbers. */
function dequantize(node: LiteNode): Expr {
  const x = node.input(0);
  const to = node.outputType();
  if (dtypeInfo(node.type(x).dtype).category === 'float') return node.cast(x, to);
  const { scale, zero } = scalesOf(node, x, node.inputTensors[0]);
  return node.cast(node.call('dequantize', [x, scale, zero]), to);
}

export const STORAGE_IMPORTERS: LiteImporters = {
  DENSIFY: becomes('', (node) => node.input(0)),
  DEQUANTIZE: becomes('dequantize cast', dequantize),
};
