import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { normalizeAxis } from '../../../../core/shape.ts';
import type { ImportNode } from '../../import-node.ts';

/** Values and indices. Those that need not be sorted are, too. */
function importTopK(node: ImportNode): readonly Expr[] {
  const x = node.input(0);
  const axis = normalizeAxis(node.attributes.int('axis', -1), node.shape(x).length, node.where);
  const given = node.opset < 10 ? node.attributes.int('k') : undefined;
  const k = given === undefined ? node.dimsInput(1, 'numbers of elements') : [given];
  if (k?.length !== 1) throw node.malformed(`${k?.length ?? 'no'} numbers of elements`, 'one');
  const largest = node.opset < 11 || node.attributes.bool('largest', true);
  if (node.opset >= 11) node.attributes.ignore('sorted');
  const indices = node.call('top_k', [x], { k, axis, largest });
  return [node.call('gather_elements', [x, indices], { axis }), indices];
}

/** Without a number of boxes there are none, without a least score all count. */
function importNonMaxSuppression(node: ImportNode): Expr {
  const limit = (index: number, otherwise: Expr) => {
    const given = node.inputs[index];
    return given === undefined ? otherwise : node.reshape(given, []);
  };
  return node.call(
    'non_max_suppression',
    [
      node.input(0),
      node.input(1),
      limit(2, node.scalar(0, 'int64')),
      limit(3, node.scalar(0)),
      limit(4, node.scalar(-Infinity)),
    ],
    { centered: node.attributes.bool('center_point_box') },
  );
}

export const RANKING_IMPORTERS: OperatorImporters = {
  NonMaxSuppression: since(10, 'non_max_suppression reshape', importNonMaxSuppression),
  TopK: since(1, 'top_k gather_elements', importTopK),
};
