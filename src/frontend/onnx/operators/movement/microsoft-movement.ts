import type { OperatorImporters } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { normalizeAxis } from '../../../../core/shape.ts';
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
  ExpandDims: { since: 1, makes: 'reshape', import: importExpandDims },
  GatherND: { since: 1, makes: 'gather_nd', import: importGatherND },
  Pad: { since: 1, makes: 'pad full reshape where concat', import: (node) => padAs(node, 13) },
  Trilu: { since: 1, makes: 'trilu reshape', import: importTrilu },
};
