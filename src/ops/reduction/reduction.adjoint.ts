import { normalizeAxis } from '../../core/tensor/shape.ts';
import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';
import { reducedAxes } from './reduce.ts';

/** Running sums in the other direction; of products see below. */
const cumulativeAdjoint: AdjointRule = (call) => {
  const { inputs, attributes, cotangent, graph } = call;
  const [x] = inputs;
  if (x === undefined) return [];
  if (boolAttribute(attributes, 'product')) return [throughProducts(call, x)];
  const reverse = !boolAttribute(attributes, 'reverse');
  return [graph.call('cumulative', [cotangent], { ...attributes, reverse })];
};

/**
 * For each element the running products with a 1 in its place, which are right where elements are
 * zero. It takes the square of the memory along the axis.
 */
function throughProducts(
  { attributes, cotangent, graph }: AdjointCall,
  x: GraphTensor,
): GraphTensor {
  const rank = x.shape.length;
  const axis = normalizeAxis(intAttribute(attributes, 'axis'), rank, 'cumulative');
  const size = x.shape[axis] ?? 1;
  const others = Array.from({ length: rank }, (_, i) => i).filter((i) => i !== axis);
  const perm = [...others, axis];
  const back = perm.map((_, i) => perm.indexOf(i));
  const rows = (of: GraphTensor): GraphTensor => {
    const moved = graph.transpose(of, perm);
    return graph.reshape(moved, [...moved.shape.slice(0, -1), 1, size]);
  };
  const places = graph.count(size);
  const [row, column] = [graph.reshape(places, [size, 1]), graph.reshape(places, [1, size])];
  const products = graph.call('cumulative', [graph.where(graph.equal(row, column), 1, rows(x))], {
    ...attributes,
    axis: rank,
  });
  const [first, second] = boolAttribute(attributes, 'reverse') ? [column, row] : [row, column];
  const depends = boolAttribute(attributes, 'exclusive')
    ? graph.less(first, second)
    : graph.lessEqual(first, second);
  const parts = graph.where(depends, graph.mul(products, rows(cotangent)), 0);
  const sums = graph.call('reduce_sum', [parts], { axes: [rank] });
  return graph.transpose(sums, back);
}

interface Reduced {
  readonly graph: GraphBuilder;
  readonly x: GraphTensor;
  readonly axes: readonly number[];
  /** The result and its cotangent, with the reduced axes as 1. */
  readonly y: GraphTensor;
  readonly dy: GraphTensor;
}

const RULES = {
  sum: ({ graph, x, dy }: Reduced) => graph.broadcastTo(dy, x.shape),
  mean({ graph, x, axes, dy }: Reduced) {
    const count = graph.size(
      axes.map((axis) => x.shape[axis] ?? 1),
      x.dtype,
    );
    return graph.broadcastTo(graph.div(dy, count), x.shape);
  },
  prod: ({ graph, x, axes, dy }: Reduced) => graph.mul(productOfOthers(graph, x, axes), dy),
  max: shareAmongEqual,
  min: shareAmongEqual,
};

/** Of a reduction by its kind; elements that tie for an extremum share its cotangent. */
function reduceAdjoint(kind: keyof typeof RULES): AdjointRule {
  return ({ inputs: [x], output, attributes, cotangent, graph }) => {
    if (x === undefined) return [];
    const axes = [...reducedAxes(attributes, x.shape.length, `reduce_${kind}`)];
    const kept = x.shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
    const [y, dy] = [graph.reshape(output, kept), graph.reshape(cotangent, kept)];
    return [axes.length === 0 ? dy : RULES[kind]({ graph, x, axes, y, dy })];
  };
}

function shareAmongEqual({ graph, x, axes, y, dy }: Reduced): GraphTensor {
  const isExtremum = graph.equal(x, y);
  const count = graph.sum(graph.cast(isExtremum, x.dtype), axes);
  return graph.where(isExtremum, graph.div(dy, count), 0);
}

/** Of what comes before and after, so that it is right where elements are zero. */
function productOfOthers(
  graph: GraphBuilder,
  x: GraphTensor,
  axes: readonly number[],
): GraphTensor {
  const kept = x.shape.flatMap((_, axis) => (axes.includes(axis) ? [] : [axis]));
  const perm = [...kept, ...axes];
  const moved = graph.transpose(x, perm);
  const length = axes.reduce<(typeof x.shape)[number]>(
    (product, axis) => graph.dims.mul(product, x.shape[axis] ?? 1),
    1,
  );
  const rows = graph.reshape(moved, [...kept.map((axis) => x.shape[axis] ?? 1), length]);
  const axis = kept.length;
  const run = { axis, product: true, exclusive: true };
  const before = graph.call('cumulative', [rows], { ...run, reverse: false });
  const after = graph.call('cumulative', [rows], { ...run, reverse: true });
  const back = perm.map((_, i) => perm.indexOf(i));
  return graph.transpose(graph.reshape(graph.mul(before, after), moved.shape), back);
}

export const REDUCTION_ADJOINTS = {
  reduce_sum: reduceAdjoint('sum'),
  reduce_mean: reduceAdjoint('mean'),
  reduce_prod: reduceAdjoint('prod'),
  reduce_max: reduceAdjoint('max'),
  reduce_min: reduceAdjoint('min'),
  cumulative: cumulativeAdjoint,
};
