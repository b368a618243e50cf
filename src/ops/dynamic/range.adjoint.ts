import type { AdjointRule } from '../adjoint/adjoint.ts';

/**
 * Element i is start + i * delta. How many there are is constant almost everywhere, so the limit has no
 * derivative.
 */
export const rangeAdjoint: AdjointRule = ({ inputs, output, cotangent, wants, graph }) => {
  const [start, , delta] = inputs;
  if (start === undefined || delta === undefined) return [];
  const total = (x: typeof cotangent) => graph.reshape(graph.sum(x, [0]), start.shape);
  const bySteps = (): typeof cotangent => {
    const steps = graph.div(graph.sub(output, graph.reshape(start, [])), graph.reshape(delta, []));
    return graph.reshape(graph.sum(graph.mul(cotangent, steps), [0]), delta.shape);
  };
  return [wants(0) ? total(cotangent) : undefined, undefined, wants(2) ? bySteps() : undefined];
};

/**
 * Sizes, indices and tables of sizes have no derivatives. `resize_table` has no adjoint: the indices of the nearest
 * elements are integers, and weights are read by `resample`, which asks for a table that follows from sizes. What
 * reads weights otherwise is refused, for they do depend on a scale that is an input.
 */
