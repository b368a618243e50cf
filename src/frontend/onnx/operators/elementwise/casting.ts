import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { type DType, isDType } from '../../../../core/dtype.ts';
import type { ImportNode } from '../../import-node.ts';
import { dtypeFromOnnx } from '../../protobuf/read-tensor.ts';

/** Before opset 6 the dtype was a string. */
function targetOf(node: ImportNode): DType {
  if (node.opset >= 6) return dtypeFromOnnx(node.attributes.int('to'), node.where);
  const name = node.attributes.string('to', '').toLowerCase();
  const to = name.replace(/^float$/, 'float32').replace(/^double$/, 'float64');
  if (!isDType(to)) throw node.malformed(`a cast to ${JSON.stringify(to)}`, 'an element type');
  return to;
}

function convert(node: ImportNode, to: DType): Expr {
  const saturate = node.attributes.int('saturate', 1) !== 0;
  const roundMode = node.attributes.string('round_mode', 'up');
  const x = node.input(0);
  if (node.type(x).dtype === to) return x;
  const isSmall = to.startsWith('float8');
  return node.call('cast', [x], isSmall ? { to, saturate, round_mode: roundMode } : { to });
}

function importCast(node: ImportNode): Expr {
  return convert(node, targetOf(node));
}

function importCastLike(node: ImportNode): Expr {
  return convert(node, node.type(node.input(1)).dtype);
}

function importBitCast(node: ImportNode): Expr {
  return node.call('bitcast', [node.input(0)], { to: targetOf(node) });
}

export const CASTING_IMPORTERS: OperatorImporters = {
  BitCast: since(26, 'bitcast', importBitCast),
  Cast: since(1, 'cast', importCast),
  CastLike: since(15, 'cast', importCastLike),
};
