import type { AdjointCall, AdjointRule } from '../adjoint/adjoint.ts';
import { byExpansion } from '../adjoint/by-expansion.ts';
import { floatAttribute, intAttribute } from '../attributes.ts';
import { normalizeAxis } from '../../core/tensor/shape.ts';

const axesOf = ({ attributes, output }: AdjointCall): readonly number[] => [
  normalizeAxis(intAttribute(attributes, 'axis'), output.shape.length, 'softmax'),
];

/** y * (dy - sum(y * dy)) */
const softmaxAdjoint: AdjointRule = (call) => {
  const { output: y, cotangent, graph } = call;
  const sum = graph.sum(graph.mul(cotangent, y), axesOf(call));
  return [graph.mul(graph.sub(cotangent, sum), y)];
};

/** dy - exp(y) * sum(dy) */
const logSoftmaxAdjoint: AdjointRule = (call) => {
  const { output: y, cotangent, graph } = call;
  const sum = graph.sum(cotangent, axesOf(call));
  return [graph.sub(cotangent, graph.mul(graph.unary('exp', y), sum))];
};

/** (x - mean) * scale / sqrt(var + epsilon) + bias, written out. */
const batchNormAdjoint = byExpansion(({ inputs, output, attributes, graph }) => {
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

/** (dy - y * mean(y * dy) - mean(dy)) / deviation; only a centered norm takes off the mean of dy. */
function rowNormAdjoint(isCentered: boolean): AdjointRule {
  return ({ inputs: [x], output: y, attributes, cotangent, graph }) => {
    if (x === undefined) return [];
    const axes = [x.shape.length - 1];
    const centered = isCentered ? graph.sub(x, graph.mean(x, axes)) : x;
    const variance = graph.mean(graph.square(centered), axes);
    const deviation = graph.unary(
      'sqrt',
      graph.add(variance, floatAttribute(attributes, 'epsilon')),
    );
    const along = graph.mul(y, graph.mean(graph.mul(y, cotangent), axes));
    const rest = graph.sub(cotangent, along);
    const kept = isCentered ? graph.sub(rest, graph.mean(cotangent, axes)) : rest;
    return [graph.div(kept, deviation)];
  };
}

export const NORM_ADJOINTS = {
  batch_norm: batchNormAdjoint,
  layer_norm: rowNormAdjoint(true),
  rms_norm: rowNormAdjoint(false),
  softmax: softmaxAdjoint,
  log_softmax: logSoftmaxAdjoint,
};
