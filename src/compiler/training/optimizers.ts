import type { DType } from '../../core/tensor/dtype.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import type { GraphBuilder } from '../../ops/adjoint/graph-builder.ts';
import type { GraphTensor } from '../../ops/adjoint/graph-target.ts';
import { boolAttribute, floatAttribute } from '../../ops/attributes.ts';
import type { OptimizerName } from '../ir/operators/training-operators.ts';

/** One step of an optimiser for one parameter. All numbers are of one dtype, float32 or wider. */
export interface OptimizerStep {
  readonly graph: GraphBuilder;
  readonly parameter: GraphTensor;
  readonly gradient: GraphTensor;
  readonly slots: readonly GraphTensor[];
  /** The learning rate, of rank 0. */
  readonly rate: GraphTensor;
  /** The number of the step, from 1 on, as a float of rank 0. */
  readonly step: GraphTensor;
  readonly attributes: Attributes;
}

/** The new parameter, then the new slots. */
export type OptimizerRule = (step: OptimizerStep) => readonly GraphTensor[];

/** The optimisers, by the names of their operators. */
export const OPTIMIZERS: Readonly<Record<OptimizerName, OptimizerRule>> = {
  /** Stochastic gradient descent (Robbins and Monro 1951); `decay` is an L2 penalty. */
  sgd: (call) => [descend(call, call.parameter, penalised(call))],
  momentum,
  adagrad,
  adam: (call) => adam(call, penalised(call), call.parameter),
  /** Adam with the decay beside the gradient (Loshchilov and Hutter 2019, "Decoupled weight decay"). */
  adamw: (call) => adam(call, call.gradient, decayed(call)),
  lion,
};

/**
 * Heavy-ball momentum (Polyak 1964), or Nesterov's (as Sutskever et al. 2013 write it): as PyTorch, the first
 * gradient is not dampened.
 */
function momentum(call: OptimizerStep): readonly GraphTensor[] {
  const { graph, attributes, step, parameter } = call;
  const gradient = penalised(call);
  const kept = floatAttribute(attributes, 'momentum');
  const dampening = floatAttribute(attributes, 'dampening');
  const isLater = graph.less(graph.scalar(1, step.dtype), step);
  const share = dampening === 0 ? 1 : graph.where(isLater, scalarOf(call, 1 - dampening), 1);
  const velocity = graph.add(graph.mul(slot(call, 0), kept), graph.mul(gradient, share));
  const direction = boolAttribute(attributes, 'nesterov')
    ? graph.add(gradient, graph.mul(velocity, kept))
    : velocity;
  return [descend(call, parameter, direction), velocity];
}

/** Adagrad (Duchi, Hazan and Singer 2011). */
function adagrad(call: OptimizerStep): readonly GraphTensor[] {
  const { graph, attributes, parameter } = call;
  const gradient = penalised(call);
  const square = graph.add(slot(call, 0), graph.square(gradient));
  const size = graph.add(graph.unary('sqrt', square), floatAttribute(attributes, 'epsilon'));
  return [descend(call, parameter, graph.div(gradient, size)), square];
}

/** Adam (Kingma and Ba 2015, algorithm 1), from a parameter that may have decayed. */
function adam(
  call: OptimizerStep,
  gradient: GraphTensor,
  parameter: GraphTensor,
): readonly GraphTensor[] {
  const { graph, attributes } = call;
  const beta1 = floatAttribute(attributes, 'beta1');
  const beta2 = floatAttribute(attributes, 'beta2');
  const mean = average(graph, slot(call, 0), gradient, beta1);
  const square = average(graph, slot(call, 1), graph.square(gradient), beta2);
  const fixedMean = graph.div(mean, bias(call, beta1));
  const fixedSquare = graph.div(square, bias(call, beta2));
  const size = graph.add(graph.unary('sqrt', fixedSquare), floatAttribute(attributes, 'epsilon'));
  return [descend(call, parameter, graph.div(fixedMean, size)), mean, square];
}

/** Lion (Chen et al. 2023, "Symbolic discovery of optimization algorithms"). */
function lion(call: OptimizerStep): readonly GraphTensor[] {
  const { graph, attributes, gradient } = call;
  const beta1 = floatAttribute(attributes, 'beta1');
  const beta2 = floatAttribute(attributes, 'beta2');
  const direction = graph.unary('sign', average(graph, slot(call, 0), gradient, beta1));
  return [descend(call, decayed(call), direction), average(graph, slot(call, 0), gradient, beta2)];
}

function descend(
  { graph, rate }: OptimizerStep,
  parameter: GraphTensor,
  direction: GraphTensor,
): GraphTensor {
  return graph.sub(parameter, graph.mul(direction, rate));
}

/** The gradient with that of an L2 penalty. */
function penalised({ graph, attributes, parameter, gradient }: OptimizerStep): GraphTensor {
  const decay = floatAttribute(attributes, 'decay');
  return decay === 0 ? gradient : graph.add(gradient, graph.mul(parameter, decay));
}

/** The parameter less a share of itself, which the rate scales too. */
function decayed({ graph, attributes, parameter, rate }: OptimizerStep): GraphTensor {
  const decay = floatAttribute(attributes, 'decay');
  if (decay === 0) return parameter;
  const kept = graph.sub(graph.scalar(1, rate.dtype), graph.mul(rate, decay));
  return graph.mul(parameter, kept);
}

/** The running average of a value: `before` counts by the part `kept`. */
function average(
  graph: GraphBuilder,
  before: GraphTensor,
  now: GraphTensor,
  kept: number,
): GraphTensor {
  return graph.add(graph.mul(before, kept), graph.mul(now, 1 - kept));
}

/** Below this exponent `1 - exp(x)` loses too many digits: a series takes its place. */
const SMALL_EXPONENT = 0.1;

/**
 * 1 - beta^step, by which averages that began as zeros are too small. In single precision the power is too near
 * to 1 in the first steps.
 */
function bias(call: OptimizerStep, beta: number): GraphTensor {
  const { graph, step } = call;
  const exponent = graph.mul(step, Math.log(beta));
  const series = [5, 4, 3, 2].reduce(
    (inner, n) => graph.add(graph.mul(graph.mul(inner, exponent), 1 / n), 1),
    scalarOf(call, 1),
  );
  const isSmall = graph.less(graph.scalar(-SMALL_EXPONENT, step.dtype), exponent);
  const power = graph.unary('exp', exponent);
  return graph.where(
    isSmall,
    graph.neg(graph.mul(series, exponent)),
    graph.sub(scalarOf(call, 1), power),
  );
}

function scalarOf({ graph, step }: OptimizerStep, value: number): GraphTensor {
  return graph.scalar(value, step.dtype);
}

function slot({ slots }: OptimizerStep, index: number): GraphTensor {
  const tensor = slots[index];
  if (tensor === undefined) throw new Error(`internal: no slot ${index}`);
  return tensor;
}

/**
 * The step in float32, or float64 where the parameter is; results have the dtypes that parameter and slots came
 * with.
 */
export function optimize(rule: OptimizerRule, call: OptimizerStep): readonly GraphTensor[] {
  const { graph, parameter, slots } = call;
  const dtype: DType = parameter.dtype === 'float64' ? 'float64' : 'float32';
  const wide = (tensor: GraphTensor) => graph.cast(tensor, dtype);
  const results = rule({
    ...call,
    parameter: wide(parameter),
    gradient: wide(call.gradient),
    slots: slots.map(wide),
    rate: wide(call.rate),
    step: wide(call.step),
  });
  const kept = [parameter, ...slots];
  return results.map((result, i) => graph.cast(result, kept[i]?.dtype ?? dtype));
}
