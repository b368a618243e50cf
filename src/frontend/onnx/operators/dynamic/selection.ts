import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { countElements } from '../../../../core/dims/dim-context.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode } from '../../import-node.ts';

function importNonZero(node: ImportNode): Expr {
  return node.call('nonzero', [node.input(0)]);
}

/** The tensor and an axis of it: the given one, or all elements in a row. */
function alongAxis(node: ImportNode): { readonly x: Expr; readonly axis: number } {
  const x = node.input(0);
  const shape = node.shape(x);
  const axis = node.attributes.int('axis');
  if (axis !== undefined) return { x, axis: normalizeAxis(axis, shape.length, node.where) };
  return { x: node.reshape(x, [countElements(shape, node.dims)]), axis: 0 };
}

/** Elements that a condition chooses: a gather by where it holds. It may be shorter than the axis. */
function importCompress(node: ImportNode): Expr {
  const { x, axis } = alongAxis(node);
  const positions = node.call('nonzero', [node.input(1)]);
  const [, count = '?'] = node.shape(positions);
  return node.call('gather', [x, node.reshape(positions, [count])], { axis });
}

/** Values, indices, inverse and counts; those that nothing reads are not computed. */
function importUnique(node: ImportNode): readonly Expr[] {
  const { x, axis } = alongAxis(node);
  const attributes = { axis, sorted: node.attributes.bool('sorted', true) };
  const indices = node.call('unique_indices', [x], attributes);
  const outputs = [
    () => node.call('gather', [x, indices], { axis }),
    () => indices,
    () => node.call('unique_inverse', [x], attributes),
    () => sameSize(node, indices, node.call('unique_counts', [x], attributes)),
  ];
  return outputs.slice(0, node.outputCount).map((output) => output());
}

/** A vector whose length is certainly that of another one, under the other's name. */
function sameSize(node: ImportNode, vector: Expr, other: Expr): Expr {
  const shape: readonly Dim[] = node.shape(vector);
  return node.reshape(other, shape);
}

export const SELECTION_IMPORTERS: OperatorImporters = {
  Compress: since(9, 'gather nonzero reshape', importCompress),
  NonZero: since(9, 'nonzero', importNonZero),
  Unique: since(11, 'unique_indices reshape unique_counts gather unique_inverse', importUnique),
};
