import { byExpansion } from '../adjoint/by-expansion.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import { dimsAttribute, floatAttribute, intAttribute } from '../attributes.ts';

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
