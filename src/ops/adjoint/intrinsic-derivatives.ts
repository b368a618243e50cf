import type { IntrinsicName } from '../formula/expression.ts';
import type { GraphBuilder } from './graph-builder.ts';
import type { GraphTensor } from './graph-target.ts';

interface IntrinsicCall {
  readonly operands: readonly GraphTensor[];
  /** The result, computed when it is needed. */
  readonly value: () => GraphTensor;
}

/** The cotangent of an operand, from that of the result. */
type Derivative = (graph: GraphBuilder, cotangent: GraphTensor, call: IntrinsicCall) => GraphTensor;

/** The derivative of a function of one operand whose cotangent is multiplied by this factor. */
const times =
  (factor: (graph: GraphBuilder, x: GraphTensor, y: () => GraphTensor) => GraphTensor) =>
  (...[graph, cotangent, { operands, value }]: Parameters<Derivative>): GraphTensor =>
    graph.mul(cotangent, factor(graph, operands[0] ?? cotangent, value));

/** The derivative of a function of one operand whose cotangent is divided by this. */
const over =
  (divisor: (graph: GraphBuilder, x: GraphTensor) => GraphTensor) =>
  (...[graph, cotangent, { operands }]: Parameters<Derivative>): GraphTensor =>
    graph.div(cotangent, divisor(graph, operands[0] ?? cotangent));

const negative =
  (derivative: Derivative): Derivative =>
  (graph, cotangent, call) =>
    graph.neg(derivative(graph, cotangent, call));

/** 1 - x² */
const lack = (g: GraphBuilder, x: GraphTensor) => g.sub(g.scalar(1, x.dtype), g.square(x));

const ASIN = over((g, x) => g.unary('sqrt', lack(g, x)));

/** b * a^(b - 1), and 0 where b is, for which the power could be infinite. */
const POWER_BY_BASE: Derivative = (g, cotangent, { operands: [a = cotangent, b = cotangent] }) => {
  const slope = g.mul(b, g.call('pow', [a, g.sub(b, 1)]));
  return g.mul(cotangent, g.where(g.equal(b, 0), 0, slope));
};

/** a^b * log(a), and 0 where a is. */
const POWER_BY_EXPONENT: Derivative = (g, cotangent, { operands: [a = cotangent], value }) => {
  const isZero = g.equal(a, 0);
  const slope = g.mul(value(), g.unary('log', g.where(isZero, 1, a)));
  return g.mul(cotangent, g.where(isZero, 0, slope));
};

/** Derivatives of each intrinsic by each of its operands. */
export const INTRINSIC_DERIVATIVES: Readonly<Record<IntrinsicName, readonly Derivative[]>> = {
  exp: [times((_, __, y) => y())],
  log: [over((_, x) => x)],
  log1p: [over((g, x) => g.add(x, 1))],
  sigmoid: [times((g, _, y) => g.mul(y(), g.sub(g.scalar(1, y().dtype), y())))],
  erf: [times((g, x) => g.mul(g.unary('exp', g.neg(g.square(x))), 2 / Math.sqrt(Math.PI)))],
  sin: [times((g, x) => g.unary('cos', x))],
  cos: [negative(times((g, x) => g.unary('sin', x)))],
  tan: [times((g, _, y) => g.add(g.square(y()), 1))],
  asin: [ASIN],
  acos: [negative(ASIN)],
  atan: [over((g, x) => g.add(g.square(x), 1))],
  sinh: [times((g, x) => g.unary('cosh', x))],
  cosh: [times((g, x) => g.unary('sinh', x))],
  tanh: [times((g, _, y) => lack(g, y()))],
  asinh: [over((g, x) => g.unary('sqrt', g.add(g.square(x), 1)))],
  // As a product of roots, which does not overflow.
  acosh: [over((g, x) => g.mul(g.unary('sqrt', g.sub(x, 1)), g.unary('sqrt', g.add(x, 1))))],
  atanh: [over(lack)],
  pow: [POWER_BY_BASE, POWER_BY_EXPONENT],
  quotient: [
    (g, cotangent, { operands: [, b = cotangent] }) => g.div(cotangent, b),
    (g, cotangent, { operands: [, b = cotangent], value }) =>
      g.neg(g.div(g.mul(cotangent, value()), b)),
  ],
};
