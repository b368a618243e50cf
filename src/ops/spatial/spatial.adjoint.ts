import { normalizeAxis } from '../../core/tensor/shape.ts';
import type { AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import { requireConstantTable } from '../adjoint/table-without-derivative.ts';
import { intAttribute, intsAttribute } from '../attributes.ts';

/** Elements chosen by the indices of the table, times its weights. */
const expanded = byExpansion(({ inputs, output, attributes, graph }) => {
  const [x, table] = inputs;
  if (x === undefined || table === undefined) return output;
  const axis = normalizeAxis(intAttribute(attributes, 'axis'), x.shape.length, 'resample');
  const [size = 1, width = 1] = table.shape;
  const taps = graph.dims.sub(width, 1);
  const begins = graph.reshape(graph.at(table, 1, 0), [size, 1]);
  // A row that begins before the first element is a constant.
  const isConstant = graph.less(begins, 0);
  const from = graph.cast(graph.where(isConstant, 0, begins), 'int64');
  const places = graph.add(from, graph.reshape(graph.count(taps), [1, taps]));
  const chosen = graph.call('gather', [x, places], { axis });
  const weights = graph.where(isConstant, 0, graph.sliceAxis(table, 1, { from: 1, to: width }));
  const after = x.shape.slice(axis + 1).map(() => 1);
  const shares = graph.reshape(graph.cast(weights, x.dtype), [size, taps, ...after]);
  return graph.call('reduce_sum', [graph.mul(chosen, shares)], { axes: [axis + 1] });
});

export const resampleAdjoint: AdjointRule = (call) => {
  requireConstantTable(call, 1, 'resample: input table');
  return expanded(call);
};

export const repeatAdjoint: AdjointRule = ({ inputs: [x], attributes, cotangent, graph }) => {
  if (x === undefined) return [];
  const repeats = intsAttribute(attributes, 'repeats');
  const split = x.shape.flatMap((dim, axis) => [dim, repeats[axis] ?? 1]);
  const axes = x.shape.map((_, axis) => 2 * axis + 1);
  const sums = graph.sum(graph.reshape(cotangent, split), axes);
  return [graph.reshape(sums, x.shape)];
};
