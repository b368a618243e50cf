import { requireKind } from '../../../core/check-options.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import { call, scalar } from '../build.ts';
import type { CallExpr, Expr } from '../expr.ts';
import type { LossName, OptimizerName, ScheduleName } from './training-operators.ts';

interface OptimizerOperands {
  /** A tensor of floats. */
  readonly parameter: Expr;
  /** The gradient, of the parameter's shape. */
  readonly gradient: Expr;
  /** The tensors that the optimiser keeps (`OPTIMIZER_SIGNATURES`), of the parameter's shape, zeros at first. */
  readonly slots?: readonly Expr[] | undefined;
  /** The learning rate, float32 of rank 0, or a number. */
  readonly rate: Expr | number;
  /** The number of the step, int32 of rank 0, from 1 on. */
  readonly step: Expr;
}

/**
 * One step of an optimiser: a tuple of the new parameter and the new slots, in the dtypes they came with. It is
 * computed in float32, or float64 where the parameter is.
 *
 * - `sgd`: Robbins and Monro 1951; `decay` is an L2 penalty, as in `momentum`, `adagrad` and `adam`.
 * - `momentum`: Polyak 1964, and with `nesterov` as Sutskever et al. 2013 write it.
 * - `adagrad`: Duchi, Hazan and Singer 2011.
 * - `adam`: Kingma and Ba 2015.
 * - `adamw`: Loshchilov and Hutter 2019; `decay` is taken from the parameter itself, as in `lion`.
 * - `lion`: Chen et al. 2023.
 */
export function optimizerStep(
  name: OptimizerName,
  operands: OptimizerOperands,
  settings: Attributes = {},
): CallExpr {
  requireKind('optimizerStep', 'object', ['operands', operands]);
  const { parameter, gradient, slots = [], rate, step } = operands;
  const factor = typeof rate === 'number' ? scalar(rate) : rate;
  return call(name, [parameter, gradient, ...slots, factor, step], settings);
}

/**
 * The learning rate of a step (int32 of rank 0, from 1 on), float32 of rank 0: `rate`, grown linearly over
 * `warmup` steps, times the schedule. `cosine_rate` follows Loshchilov and Hutter 2017 without restarts,
 * `inverse_sqrt_rate` Vaswani et al. 2017.
 */
export function learningRate(name: ScheduleName, step: Expr, settings: Attributes = {}): CallExpr {
  return call(name, [step], settings);
}

/**
 * A mean loss, float32 of rank 0, of what a model gives against what is wanted, of the same shape.
 * `cross_entropy` takes scores before the softmax, and classes as probabilities or as integers without the axis of
 * the classes; `binary_cross_entropy` takes scores before the sigmoid. `huber` follows Huber 1964.
 */
export function lossOf(
  name: LossName,
  operands: { readonly given: Expr; readonly wanted: Expr },
  settings: Attributes = {},
): CallExpr {
  requireKind('lossOf', 'object', ['operands', operands]);
  return call(name, [operands.given, operands.wanted], settings);
}

/** All tensors scaled alike so that their joint norm is `limit` at most, then that norm before: a tuple. */
export function clipByGlobalNorm(tensors: readonly Expr[], limit: number): CallExpr {
  return call('clip_by_global_norm', tensors, { limit });
}

/** A test that no element of the tensors is infinite or NaN: bool of rank 0. */
export function allFinite(tensors: readonly Expr[]): CallExpr {
  return call('all_finite', tensors);
}
