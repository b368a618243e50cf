import type { AdjointRule } from '../adjoint/adjoint.ts';

/** Adds each element of the cotangent to where it was read. */
export const gatherElementsAdjoint: AdjointRule = ({ inputs, attributes, cotangent, graph }) => {
  const [x, indices] = inputs;
  if (x === undefined || indices === undefined) return [];
  const zeros = graph.full(x.shape, x.dtype);
  const how = { ...attributes, reduction: 'add' };
  return [graph.call('scatter_elements', [zeros, indices, cotangent], how)];
};
