import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';
import { importGatherND, importTrilu } from '../indexing/indexing.ts';
import { padAs } from './padding.ts';

function importExpandDims(node: ImportNode): Expr {
  const x = node.input(0);
  const shape = [...node.shape(x)];
  const given = node.numberInput(1, 'axes');
  if (given === undefined) throw node.malformed('no axis', 'one');
  shape.splice(normalizeAxis(given, shape.length + 1, node.where), 0, 1);
  return node.reshape(x, shape);
}

/** Operators of com.microsoft that ONNX took over, or nearly. */
export const MICROSOFT_MOVEMENT_IMPORTERS: OperatorImporters = {
  ExpandDims: since(1, 'reshape', importExpandDims),
  GatherND: since(1, 'gather_nd', importGatherND),
  Pad: since(1, 'pad full reshape where concat', (node) => padAs(node, 13)),
  Trilu: since(1, 'trilu reshape', importTrilu),
};
