import { countElements } from '../../../core/dim-context.ts';
import type { Expr } from '../../../compiler/ir/expr.ts';
import { normalizeAxis } from '../../../core/shape.ts';
import type { ImportNode, NodeImporter } from '../import-node.ts';

/**
 * Softmax and its like. Before opset 13 the input is seen as a matrix, cut at `axis`, and every row
 * is normalised as a whole.
 */
const softmax =
  (op: string): NodeImporter =>
  (node) => {
    const x = node.input(0);
    const shape = node.shape(x);
    const isMatrix = node.opset < 13;
    const axis = normalizeAxis(
      node.attributes.int('axis', isMatrix ? 1 : -1),
      shape.length,
      node.where,
    );
    if (!isMatrix || axis === shape.length - 1) return node.call(op, [x], { axis });
    const rows = countElements(shape.slice(0, axis), node.dims);
    const matrix = node.reshape(x, [rows, countElements(shape.slice(axis), node.dims)]);
    return node.reshape(node.call(op, [matrix], { axis: 1 }), shape);
  };

/** Axes as an attribute, or as an input from `axesInputSince` on. */
const reduce =
  (
    axesInputSince: number,
    apply: (node: ImportNode, x: Expr, attributes: ReduceAttributes) => Expr,
  ): NodeImporter =>
  (node) => {
    const x = node.input(0);
    const rank = node.shape(x).length;
    const keepdims = node.attributes.bool('keepdims', true);
    const isInput = node.opset >= axesInputSince;
    const given = isInput ? node.intsInput(1, 'axes') : node.attributes.ints('axes');
    const isNothing = isInput && node.attributes.bool('noop_with_empty_axes');
    const isEmpty = given === undefined || given.length === 0;
    const all = isNothing ? [] : Array.from({ length: rank }, (_, axis) => axis);
    const axes = isEmpty ? all : given.map((axis) => normalizeAxis(axis, rank, node.where));
    return apply(node, x, { axes: axes.sort((a, b) => a - b), keepdims });
  };

interface ReduceAttributes {
  readonly axes: readonly number[];
  readonly keepdims: boolean;
}

function reduced(op: string) {
  return (node: ImportNode, x: Expr, { axes, keepdims }: ReduceAttributes): Expr =>
    axes.length === 0 ? x : node.call(op, [x], { axes, keepdims });
}

const sum = reduced('reduce_sum');

function minimum(node: ImportNode, x: Expr, attributes: ReduceAttributes): Expr {
  const negated = node.call('neg', [x]);
  return node.call('neg', [reduced('reduce_max')(node, negated, attributes)]);
}

export const REDUCTION_IMPORTERS: Readonly<Record<string, NodeImporter>> = {
  LogSoftmax: softmax('log_softmax'),
  ReduceL1: reduce(18, (node, x, attributes) => sum(node, node.call('abs', [x]), attributes)),
  ReduceL2: reduce(18, (node, x, attributes) =>
    node.call('sqrt', [sum(node, node.call('mul', [x, x]), attributes)]),
  ),
  ReduceMax: reduce(18, reduced('reduce_max')),
  ReduceMean: reduce(18, reduced('reduce_mean')),
  ReduceMin: reduce(18, minimum),
  ReduceSum: reduce(13, sum),
  ReduceSumSquare: reduce(18, (node, x, attributes) =>
    sum(node, node.call('mul', [x, x]), attributes),
  ),
  Softmax: softmax('softmax'),
};
