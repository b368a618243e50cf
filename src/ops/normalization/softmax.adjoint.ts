import { normalizeAxis } from '../../core/shape.ts';
import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import { intAttribute } from '../attributes.ts';

const axesOf = ({ attributes, output }: AdjointCall): readonly number[] => [
  normalizeAxis(intAttribute(attributes, 'axis'), output.shape.length, 'softmax'),
];

/** y * (dy - sum(y * dy)) */
export const softmaxAdjoint: AdjointRule = (call) => {
  const { output: y, cotangent, graph } = call;
  const sum = graph.sum(graph.mul(cotangent, y), axesOf(call));
  return [graph.mul(graph.sub(cotangent, sum), y)];
};

/** dy - exp(y) * sum(dy) */
export const logSoftmaxAdjoint: AdjointRule = (call) => {
  const { output: y, cotangent, graph } = call;
  const sum = graph.sum(cotangent, axesOf(call));
  return [graph.sub(cotangent, graph.mul(graph.unary('exp', y), sum))];
};
