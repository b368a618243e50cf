import type { ActivationName } from './activations.ts';

/** A function of one number, alpha and beta. */
export type HostActivation = (x: number, alpha: number, beta: number) => number;

const FUNCTIONS = {
  Affine: (x, alpha, beta) => alpha * x + beta,
  Elu: (x, alpha) => (x < 0 ? alpha * Math.expm1(x) : x),
  HardSigmoid: (x, alpha, beta) => Math.min(Math.max(alpha * x + beta, 0), 1),
  LeakyRelu: (x, alpha) => (x < 0 ? alpha * x : x),
  Relu: (x) => (x < 0 ? 0 : x),
  ScaledTanh: (x, alpha, beta) => alpha * Math.tanh(beta * x),
  Sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  Softplus: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  Softsign: (x) => x / (1 + Math.abs(x)),
  Tanh: (x) => Math.tanh(x),
  ThresholdedRelu: (x, alpha) => (x >= alpha ? x : 0),
} satisfies Readonly<Record<ActivationName, HostActivation>>;

export const HOST_ACTIVATIONS: Readonly<Record<string, HostActivation>> = FUNCTIONS;
