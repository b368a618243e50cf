import { normalizeAxis } from '../../core/tensor/shape.ts';
import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { boolAttribute, intAttribute } from '../attributes.ts';

/** Running sums in the other direction; of products see below. */
export const cumulativeAdjoint: AdjointRule = (call) => {
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
