import { byExpansion } from '../adjoint/by-expansion.ts';
import { boolAttribute, floatAttribute } from '../attributes.ts';

/** alpha * op(a) op(b) + beta * c, written out. */
export const gemmAdjoint = byExpansion(({ inputs: [a, b, c], output, attributes, graph }) => {
  if (a === undefined || b === undefined) return output;
  const left = boolAttribute(attributes, 'trans_a') ? graph.transposeLast(a) : a;
  const right = boolAttribute(attributes, 'trans_b') ? graph.transposeLast(b) : b;
  const product = graph.mul(graph.matmul(left, right), floatAttribute(attributes, 'alpha'));
  return c === undefined
    ? product
    : graph.add(product, graph.mul(c, floatAttribute(attributes, 'beta')));
});
