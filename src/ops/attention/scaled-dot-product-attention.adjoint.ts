import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { dimsAttribute, floatAttribute } from '../attributes.ts';

/** Products, softmax and products, written out; the weights take the memory that the operator saves. */
export const scaledDotProductAttentionAdjoint = byExpansion((call) => {
  const { inputs, output, attributes, graph } = call;
  const [query, allKeys, allValues, bias] = inputs;
  if (query === undefined || allKeys === undefined || allValues === undefined) return output;
  const [to] = dimsAttribute(attributes, 'keys');
  const counted = (x: GraphTensor) => (to === undefined ? x : graph.sliceAxis(x, 2, { to }));
  const [key, value] = [counted(allKeys), counted(allValues)];
  const { dims } = graph;
  const [batch = 1, heads = 1, queries = 1, size = 1] = query.shape;
  const [, kvHeads = 1, keys = 1] = key.shape;
  const group = dims.floordiv(heads, kvHeads);
  const rows = graph.reshape(query, [batch, kvHeads, dims.mul(group, queries), size]);
  const products = graph.matmul(rows, graph.transposeLast(key));
  let scores = graph.reshape(graph.mul(products, floatAttribute(attributes, 'scale')), [
    batch,
    heads,
    queries,
    keys,
  ]);
  const softcap = floatAttribute(attributes, 'softcap');
  if (softcap > 0) scores = graph.mul(graph.unary('tanh', graph.div(scores, softcap)), softcap);
  if (bias !== undefined) scores = graph.add(scores, bias);
  const [first] = dimsAttribute(attributes, 'causal');
  if (first !== undefined) {
    const row = graph.reshape(graph.call('arange', [], { start: [first], size: [queries] }), [
      queries,
      1,
    ]);
    const isAhead = graph.less(row, graph.reshape(graph.count(keys), [1, keys]));
    scores = graph.where(isAhead, Number.NEGATIVE_INFINITY, scores);
  }
  // A row that sees nothing gives zeros.
  const largest = graph.call('reduce_max', [scores], { axes: [3], keepdims: true });
  const isEmpty = graph.equal(largest, Number.NEGATIVE_INFINITY);
  const seen = graph.where(isEmpty, 0, scores);
  const weights = graph.where(isEmpty, 0, graph.call('softmax', [seen], { axis: -1 }));
  const grouped = graph.reshape(weights, [batch, kvHeads, dims.mul(group, queries), keys]);
  return graph.reshape(graph.matmul(grouped, value), output.shape);
});
