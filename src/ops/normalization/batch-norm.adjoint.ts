import { byExpansion } from '../adjoint/by-expansion.ts';
import { floatAttribute } from '../attributes.ts';

/** (x - mean) * scale / sqrt(var + epsilon) + bias, written out. */
export const batchNormAdjoint = byExpansion(({ inputs, output, attributes, graph }) => {
  const [x, ...statistics] = inputs;
  if (x === undefined) return output;
  const shape = x.shape.slice(1).map((dim, i) => (i === 0 ? dim : 1));
  const [scale = x, bias = x, mean = x, variance = x] = statistics.map((of) =>
    graph.reshape(of, shape),
  );
  const epsilon = floatAttribute(attributes, 'epsilon');
  const factor = graph.div(scale, graph.unary('sqrt', graph.add(variance, epsilon)));
  return graph.add(graph.mul(graph.sub(x, mean), factor), bias);
});
