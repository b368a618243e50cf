import type { Expr } from '../../../compiler/ir/expr.ts';
import { countElements } from '../../../core/dim-context.ts';
import { normalizeAxis } from '../../../core/shape.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';
import { number } from './elementwise.ts';

/** What is computed along one axis of its input. */
type AlongAxis = (node: ImportNode, x: Expr, axis: number) => Expr;

/**
 * Softmax and its like. Before opset 13 the input is seen as a matrix, cut at `axis`, and every row
 * is normalised as a whole.
 */
const alongAxis =
  (apply: AlongAxis): NodeImporter =>
  (node) => {
    const x = node.input(0);
    const shape = node.shape(x);
    const isMatrix = node.opset < 13;
    const axis = normalizeAxis(
      node.attributes.int('axis', isMatrix ? 1 : -1),
      shape.length,
      node.where,
    );
    if (!isMatrix || axis === shape.length - 1) return apply(node, x, axis);
    const rows = countElements(shape.slice(0, axis), node.dims);
    const matrix = node.reshape(x, [rows, countElements(shape.slice(axis), node.dims)]);
    return node.reshape(apply(node, matrix, 1), shape);
  };

const softmax =
  (op: string): AlongAxis =>
  (node, x, axis) =>
    node.call(op, [x], { axis });

/** 1 at the first of the greatest elements, 0 everywhere else. */
function hardmax(node: ImportNode, x: Expr, axis: number): Expr {
  const { shape } = node.type(x);
  const place = node.reshape(
    node.call('arg_max', [x], { axis }),
    shape.filter((_, at) => at !== axis),
  );
  const ends = [0, 1].map((value) => node.reshape(number(node, x, value), [1]));
  const values = node.call('concat', ends, { axis: 0 });
  return node.call('one_hot', [place, values], { axis, depth: shape.slice(axis, axis + 1) });
}

export const SOFTMAX_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  Hardmax: alongAxis(hardmax),
  LogSoftmax: alongAxis(softmax('log_softmax')),
  Softmax: alongAxis(softmax('softmax')),
};
