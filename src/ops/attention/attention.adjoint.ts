import type { ExpandedCall, Halving } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { stepCount } from '../adjoint/step-count.ts';
import { dimsAttribute, floatAttribute, intAttribute } from '../attributes.ts';
import { sizesOf } from './linear-attention.ts';

/** The second call begins with the state that the first ends with. */
const linearAttentionHalving: Halving = {
  axes: [1, 1, 1, undefined, 1, 1],
  halves({ inputs, output, attributes, graph }, { first, run }) {
    const { dims } = graph;
    const { batch, positions, heads, valueSize } = sizesOf(inputs, attributes, dims);
    const given = inputs[3];
    if (given === undefined) return output;
    const width = dims.mul(valueSize, heads);
    const results: GraphTensor[] = [];
    let state = given;
    for (const part of [
      { range: { to: first }, count: first },
      { range: { from: first }, count: dims.sub(positions, first) },
    ]) {
      const own = inputs.map((input, i) =>
        i === 3 ? state : graph.sliceAxis(input, 1, part.range),
      );
      const result = run(own);
      const length = dims.mul(dims.mul(batch, part.count), width);
      const rows = graph.sliceAxis(result, 0, { to: length });
      results.push(graph.reshape(rows, [batch, part.count, width]));
      state = graph.reshape(graph.sliceAxis(result, 0, { from: length }), given.shape);
    }
    const count = (shape: GraphTensor['shape']): GraphTensor['shape'][number] =>
      shape.reduce((product, dim) => dims.mul(product, dim), 1);
    const rows = graph.reshape(graph.concat(results, 1), [count([batch, positions, width])]);
    return graph.concat([rows, graph.reshape(state, [count(given.shape)])], 0);
  },
};

/** Attention to the widened cache, with a bias that hides what does not count. */
export const cachedAttentionAdjoint = byExpansion((call) => {
  const { inputs, output, attributes, graph } = call;
  const [query, key, value, first, keyScale, valueScale] = inputs;
  if (!(query && key && value && first)) return output;
  const [to] = dimsAttribute(attributes, 'keys');
  const widened = (cache: GraphTensor, scale: GraphTensor | undefined): GraphTensor => {
    const wide = graph.cast(cache, query.dtype);
    const whole = scale === undefined ? wide : graph.mul(wide, graph.cast(scale, query.dtype));
    return to === undefined ? whole : graph.sliceAxis(whole, 2, { to });
  };
  const keys = to ?? key.shape[2] ?? 0;
  const [batch = 1, , queries = 1] = query.shape;
  const places = graph.add(
    graph.reshape(graph.cast(first, 'int64'), [batch, 1, 1, 1]),
    graph.reshape(graph.count(queries), [1, 1, queries, 1]),
  );
  const columns = graph.reshape(graph.count(keys), [1, 1, 1, keys]);
  const isAhead = graph.less(places, columns);
  const ahead = graph.where(isAhead, Number.NEGATIVE_INFINITY, graph.scalar(0, query.dtype));
  const window = intAttribute(attributes, 'window');
  // A key at the end of the window is that many places behind the query.
  const isFar = graph.less(columns, graph.add(places, 1 - window));
  const bias = window === 0 ? ahead : graph.where(isFar, Number.NEGATIVE_INFINITY, ahead);
  const operands = [query, widened(key, keyScale), widened(value, valueScale), bias];
  return graph.call('scaled_dot_product_attention', operands, {
    scale: floatAttribute(attributes, 'scale'),
    softcap: floatAttribute(attributes, 'softcap'),
  });
});

/** Its steps, one after the other, where the number of positions is known. */
export const linearAttentionAdjoint = byExpansion(written, { halving: linearAttentionHalving });

function written({ inputs, output, attributes, graph }: ExpandedCall): GraphTensor {
  const [query, key, value, initial, gate, erase] = inputs;
  if (query === undefined || key === undefined || value === undefined || initial === undefined) {
    return output;
  }
  const { dims } = graph;
  const sizes = sizesOf(inputs, attributes, dims);
  const { batch, positions, heads, kvHeads, keySize, valueSize } = sizes;
  const group = heads / kvHeads;
  const parts = (of: GraphTensor, shape: GraphTensor['shape']): GraphTensor =>
    graph.reshape(of, [batch, positions, kvHeads, ...shape]);
  const at = (of: GraphTensor | undefined, t: number, shape: GraphTensor['shape']) =>
    of && graph.at(parts(of, shape), 1, t);
  let state = initial;
  const results: GraphTensor[] = [];
  for (let t = 0; t < stepCount(positions, 'linear_attention'); t++) {
    const kept = at(gate, t, [keySize, 1]);
    if (kept !== undefined) state = graph.mul(state, kept);
    const erased = at(erase, t, [1, keySize]);
    let added = at(value, t, [1, valueSize]) ?? state;
    if (erased !== undefined) added = graph.sub(added, graph.matmul(erased, state));
    state = graph.add(state, graph.mul(at(key, t, [keySize, 1]) ?? state, added));
    const queries = at(query, t, [group, keySize]) ?? state;
    const row = graph.matmul(queries, state);
    results.push(graph.reshape(row, [batch, 1, dims.mul(valueSize, heads)]));
  }
  const count = (of: GraphTensor): GraphTensor['shape'][number] =>
    of.shape.reduce((product, dim) => dims.mul(product, dim), 1);
  const flat = (of: GraphTensor): GraphTensor => graph.reshape(of, [count(of)]);
  return results.length === 0
    ? flat(state)
    : graph.concat([flat(graph.concat(results, 1)), flat(state)], 0);
}

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
