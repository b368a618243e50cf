import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { countElements } from '../../../../core/dims/dim-context.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { number } from '../elementwise/elementwise.ts';

/** A function along one axis of its input. */
type AlongAxis = (node: ImportNode, x: Expr, axis: number) => Expr;

/**
 * Softmax and its like. Before opset 13 the input is seen as a matrix, cut at `axis`, and every row
 * is normalised as a whole.
 */
const alongAxis =
  (apply: AlongAxis): NodeImporter =>
  (node) => {
    const axis = node.attributes.int('axis', node.opset < 13 ? 1 : -1);
    return applyAlong(node, node.input(0), { apply, axis, opset: node.opset });
  };

interface Application {
  readonly apply: AlongAxis;
  readonly axis: number;
  readonly opset: number;
}

function applyAlong(node: ImportNode, x: Expr, { apply, axis: given, opset }: Application): Expr {
  const shape = node.shape(x);
  const axis = normalizeAxis(given, shape.length, node.where);
  if (opset >= 13 || axis === shape.length - 1) return apply(node, x, axis);
  const rows = countElements(shape.slice(0, axis), node.dims);
  const matrix = node.reshape(x, [rows, countElements(shape.slice(axis), node.dims)]);
  return node.reshape(apply(node, matrix, 1), shape);
}

/** Softmax as an opset of ONNX has it. */
export function softmaxOf(
  node: ImportNode,
  x: Expr,
  place: { readonly axis: number; readonly opset: number },
): Expr {
  return applyAlong(node, x, { apply: softmax('softmax'), ...place });
}

const softmax =
  (op: string): AlongAxis =>
  (node, x, axis) =>
    node.call(op, [x], { axis });

/** 1 at the first of the greatest elements, 0 everywhere else. */
function hardmax(node: ImportNode, x: Expr, axis: number): Expr {
  const shape = node.shape(x);
  const size = shape[axis] ?? 1;
  if (size === 0) return x;
  const place = node.reshape(
    node.call('arg_max', [typeof size === 'number' ? x : notEmpty(node, x, axis)], { axis }),
    shape.filter((_, at) => at !== axis),
  );
  const ends = [0, 1].map((value) => node.reshape(number(node, x, value), [1]));
  const values = node.call('concat', ends, { axis: 0 });
  return node.call('one_hot', [place, values], { axis, depth: shape.slice(axis, axis + 1) });
}

/** With one element to choose along an axis that turns out to have none. */
function notEmpty(node: ImportNode, x: Expr, axis: number): Expr {
  const shape = node.shape(x);
  const missing = node.dims.max(node.dims.sub(1, shape[axis] ?? 1), 0);
  const pads = [...shape, ...shape].map((_, i) => (i === shape.length + axis ? missing : 0));
  return node.call('pad', [x], { pads });
}

export const SOFTMAX_IMPORTERS: OperatorImporters = {
  Hardmax: since(1, 'arg_max reshape concat one_hot pad', alongAxis(hardmax)),
  LogSoftmax: since(1, 'log_softmax reshape', alongAxis(softmax('log_softmax'))),
  Softmax: since(1, 'softmax reshape', alongAxis(softmax('softmax'))),
};
