import type { GraphBuilder } from '../adjoint/graph-builder.ts';
import type { GraphTensor } from '../adjoint/graph-target.ts';
import type { ActivationCall, ActivationName } from './activations.ts';

type ActivationGraph = (
  graph: GraphBuilder,
  x: GraphTensor,
  parameters: Pick<ActivationCall, 'alpha' | 'beta'>,
) => GraphTensor;

const one = (g: GraphBuilder, x: GraphTensor): GraphTensor => g.scalar(1, x.dtype);

/** Activations of cells in operators. */
const GRAPHS: Readonly<Record<ActivationName, ActivationGraph>> = {
  Affine: (g, x, { alpha, beta }) => g.add(g.mul(x, alpha), beta),
  Elu(g, x, { alpha }) {
    const isNegative = g.less(x, 0);
    const power = g.unary('exp', g.where(isNegative, x, 0));
    return g.where(isNegative, g.mul(g.sub(power, 1), alpha), x);
  },
  HardSigmoid: (g, x, { alpha, beta }) =>
    g.call('clip', [g.add(g.mul(x, alpha), beta)], { min: 0, max: 1 }),
  LeakyRelu: (g, x, { alpha }) => g.where(g.less(x, 0), g.mul(x, alpha), x),
  Relu: (g, x) => g.unary('relu', x),
  ScaledTanh: (g, x, { alpha, beta }) => g.mul(g.unary('tanh', g.mul(x, beta)), alpha),
  Sigmoid: (g, x) => g.unary('sigmoid', x),
  Softplus: (g, x) =>
    g.add(g.unary('relu', x), g.unary('log1p', g.unary('exp', g.neg(g.unary('abs', x))))),
  Softsign: (g, x) => g.div(x, g.add(one(g, x), g.unary('abs', x))),
  Tanh: (g, x) => g.unary('tanh', x),
  ThresholdedRelu: (g, x, { alpha }) => g.where(g.less(x, alpha), 0, x),
};

/** An activation of a cell, applied. */
export function activationGraph(
  graph: GraphBuilder,
  x: GraphTensor,
  { name, ...parameters }: ActivationCall,
): GraphTensor {
  const found = Object.entries(GRAPHS).find(([known]) => known === name)?.[1];
  if (found === undefined) throw new Error(`internal: no activation ${name}`);
  return found(graph, x, parameters);
}
