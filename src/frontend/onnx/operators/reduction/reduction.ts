import { type OperatorImporters, since } from '../../operator-importer.ts';
import type { Expr } from '../../../../compiler/ir/expr.ts';
import { type DType, dtypeInfo } from '../../../../core/tensor/dtype.ts';
import { normalizeAxis } from '../../../../core/tensor/shape.ts';
import type { ImportNode, NodeImporter } from '../../import-node.ts';
import { cast } from '../elementwise/elementwise.ts';

/** Which axes a reduction takes, and what it is. */
type Reduction = (node: ImportNode, x: Expr, attributes: ReduceAttributes) => Expr;

interface ReduceAttributes {
  readonly axes: readonly number[];
  readonly keepdims: boolean;
}

/** Axes as an attribute, or as an input from `axesInputSince` on. */
const reduce =
  (axesInputSince: number, apply: Reduction): NodeImporter =>
  (node) => {
    const x = node.input(0);
    const rank = node.shape(x).length;
    const keepdims = node.attributes.bool('keepdims', true);
    const isInput = node.opset >= axesInputSince;
    const isNothing = isInput && node.attributes.bool('noop_with_empty_axes');
    const given = isInput ? givenAxes(node) : node.attributes.ints('axes');
    if (given === 'computed') return reduceComputedAxes(node, x, { apply, keepdims });
    const isEmpty = given === undefined || given.length === 0;
    const all = isNothing ? [] : Array.from({ length: rank }, (_, axis) => axis);
    const axes = isEmpty ? all : given.map((axis) => normalizeAxis(axis, rank, node.where));
    return apply(node, x, { axes: axes.sort((a, b) => a - b), keepdims });
  };

/** Axes that are known, and no axes even where they are an input of the model. */
function givenAxes(node: ImportNode): readonly number[] | undefined | 'computed' {
  if (!node.isComputed(1)) return node.intsInput(1, 'axes');
  return node.shape(node.input(1))[0] === 0 ? [] : 'computed';
}

/**
 * Axes that only the running program knows. Each axis becomes two, of which one has its size and the
 * other size 1, so that it is always the second of each pair that is reduced.
 */
function reduceComputedAxes(
  node: ImportNode,
  x: Expr,
  { apply, keepdims }: { readonly apply: Reduction; readonly keepdims: boolean },
): Expr {
  const dims = node.shape(x);
  const options = { what: 'axes', dims, keepdims };
  const sizes = node.readSizes('reduce_sizes', node.input(1), options);
  const pairs = node.reshape(x, sizes.slice(0, 2 * dims.length));
  const axes = dims.map((_, axis) => 2 * axis + 1);
  return node.reshape(apply(node, pairs, { axes, keepdims: false }), sizes.slice(2 * dims.length));
}

/** A reduction that is an operator; without axes it leaves everything as it is. */
function reduced(op: string): Reduction {
  return (node, x, { axes, keepdims }) =>
    axes.length === 0 ? x : node.call(op, [x], { axes, keepdims });
}

export const sum = reduced('reduce_sum');

/** Extremes of bools are those of the numbers 0 and 1. */
function extreme(op: string): Reduction {
  return (node, x, attributes) => {
    const isBool = node.type(x).dtype === 'bool';
    const result = reduced(op)(node, isBool ? cast(node, x, 'uint32') : x, attributes);
    return isBool ? cast(node, result, 'bool') : result;
  };
}

/** Roots and logarithms of integers are computed in float32. */
function inFloats(apply: Reduction): Reduction {
  return (node, x, attributes) => {
    const { dtype } = node.type(x);
    const to: DType = dtypeInfo(dtype).category === 'float' ? dtype : 'float32';
    return cast(node, apply(node, cast(node, x, to), attributes), dtype);
  };
}

const square = (node: ImportNode, x: Expr) => node.call('mul', [x, x]);

/** log(sum(exp(x))), of x less its maximum: no exponential overflows. */
function logSumExp(node: ImportNode, x: Expr, { axes, keepdims }: ReduceAttributes): Expr {
  if (axes.length === 0) return x;
  // An infinite maximum is left finite, since the difference of infinities is NaN.
  const clipped = (maximum: Expr) => node.call('clip', [maximum]);
  const keeping = node.call('reduce_max', [x], { axes, keepdims: true });
  const shifted = node.call('exp', [node.call('sub', [x, clipped(keeping)])]);
  const total = node.call('log', [sum(node, shifted, { axes, keepdims })]);
  const maximum = keepdims ? keeping : node.reshape(keeping, node.shape(total));
  return node.call('add', [total, clipped(maximum)]);
}

function argReduce(op: string): NodeImporter {
  return (node) => {
    const x = node.input(0);
    const rank = node.shape(x).length;
    const axis = normalizeAxis(node.attributes.int('axis', 0), rank, node.where);
    const place = node.call(op, [x], {
      axis,
      select_last: node.attributes.bool('select_last_index'),
    });
    if (node.attributes.bool('keepdims', true)) return place;
    return node.reshape(
      place,
      node.shape(x).filter((_, at) => at !== axis),
    );
  };
}

function accumulate(product: boolean): NodeImporter {
  return (node) => {
    const x = node.input(0);
    const options = {
      product,
      exclusive: node.attributes.bool('exclusive'),
      reverse: node.attributes.bool('reverse'),
    };
    if (!node.isComputed(1)) {
      const axis = node.numberInput(1, 'axes') ?? 0;
      return node.call('cumulative', [x], { axis, ...options });
    }
    const dims = node.shape(x);
    const sizes = node.readSizes('axis_sizes', node.input(1), { what: 'axis', dims });
    const flat = node.call('cumulative', [node.reshape(x, sizes)], { axis: 1, ...options });
    return node.reshape(flat, dims);
  };
}

export const REDUCTION_IMPORTERS: OperatorImporters = {
  ArgMax: since(1, 'arg_max reshape', argReduce('arg_max')),
  ArgMin: since(1, 'arg_min reshape', argReduce('arg_min')),
  CumProd: since(26, 'cumulative reshape', accumulate(true)),
  CumSum: since(11, 'cumulative reshape', accumulate(false)),
  ReduceL1: since(
    1,
    'reduce_sum abs reshape',
    reduce(18, (node, x, attributes) => sum(node, node.call('abs', [x]), attributes)),
  ),
  ReduceL2: since(
    1,
    'reduce_sum mul sqrt reshape',
    reduce(
      18,
      inFloats((node, x, attributes) =>
        node.call('sqrt', [sum(node, square(node, x), attributes)]),
      ),
    ),
  ),
  ReduceLogSum: since(
    1,
    'reduce_sum reshape log',
    reduce(
      18,
      inFloats((node, x, attributes) => node.call('log', [sum(node, x, attributes)])),
    ),
  ),
  ReduceLogSumExp: since(
    1,
    'reduce_sum reduce_max clip sub exp log add reshape',
    reduce(18, inFloats(logSumExp)),
  ),
  ReduceMax: since(1, 'reduce_max reshape cast', reduce(18, extreme('reduce_max'))),
  ReduceMean: since(1, 'reduce_mean reshape', reduce(18, reduced('reduce_mean'))),
  ReduceMin: since(1, 'reduce_min reshape cast', reduce(18, extreme('reduce_min'))),
  ReduceProd: since(1, 'reduce_prod reshape', reduce(18, reduced('reduce_prod'))),
  ReduceSum: since(1, 'reduce_sum reshape', reduce(13, sum)),
  ReduceSumSquare: since(
    1,
    'reduce_sum mul reshape',
    reduce(18, (node, x, attributes) => sum(node, square(node, x), attributes)),
  ),
};
