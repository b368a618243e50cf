import type { GraphBuilder } from '../../ops/adjoint/graph-builder.ts';
import type { GraphTensor } from '../../ops/adjoint/graph-target.ts';
import type { Attributes } from '../../core/contracts/primitive-function.ts';
import {
  LOSS_ATTRIBUTES,
  type LossName,
  OPTIMIZER_SIGNATURES,
  type OptimizerName,
  SCHEDULE_ATTRIBUTES,
  type ScheduleName,
  type StepOperatorName,
} from '../ir/operators/training-operators.ts';
import { OPTIMIZERS, optimize } from './optimizers.ts';
import { floatAttribute, intAttribute } from '../../ops/attributes.ts';
import { isFloat } from '../../ops/elementwise/number-dtypes.ts';
import { uniformNumbers } from '../../ops/random/threefry.ts';

interface StepCall {
  readonly graph: GraphBuilder;
  readonly inputs: readonly GraphTensor[];
  readonly attributes: Attributes;
}

/** The operators of a training step besides losses, schedules and optimisers. */
const STEP_OPERATORS: Readonly<
  Record<StepOperatorName, (call: StepCall) => readonly GraphTensor[]>
> = {
  global_norm: ({ graph, inputs }) => [globalNorm(graph, inputs)],
  /** Pascanu, Mikolov and Bengio 2013: all tensors scaled alike where their joint norm is above `limit`. */
  clip_by_global_norm({ graph, inputs, attributes }) {
    const norm = globalNorm(graph, inputs);
    const limit = graph.scalar(floatAttribute(attributes, 'limit'), 'float32');
    const share = graph.div(limit, graph.call('maximum', [norm, limit]));
    const clipped = inputs.map((x) => graph.mul(x, graph.cast(share, x.dtype)));
    return [...clipped, norm];
  },
  all_finite({ graph, inputs }) {
    // Compilers of shaders may take it that nothing is infinite, so bits are looked at, not differences.
    const faults = inputs.map((x) => {
      const size = graph.unary('abs', x);
      const isFault = graph.call('bitwise_or', [
        graph.unary('is_nan', x),
        graph.unary('is_positive_infinity', size),
      ]);
      const count = graph.sum(graph.cast(isFault, 'float32'), [...x.shape.keys()]);
      return graph.reshape(count, []);
    });
    const all = faults.reduce((sum, fault) => graph.add(sum, fault));
    return [graph.equal(all, 0)];
  },
  scale_loss: scaleLoss,
  /**
   * Zero for a share `ratio` of the elements, the others divided by what remains of 1 (Srivastava et al. 2014).
   * The same key and `stream` drop the same elements.
   */
  dropout({ graph, inputs: [x, key], attributes }) {
    if (x === undefined || key === undefined) return [];
    const ratio = floatAttribute(attributes, 'ratio');
    const numbers = uniformNumbers(graph, key, {
      stream: intAttribute(attributes, 'stream'),
      shape: x.shape,
    });
    const isKept = graph.call('greater_equal', [numbers, graph.scalar(ratio, 'float32')]);
    return [graph.where(isKept, graph.mul(x, ratio < 1 ? 1 / (1 - ratio) : 0), 0)];
  },
};

function globalNorm(graph: GraphBuilder, tensors: readonly GraphTensor[]): GraphTensor {
  const squares = tensors.map((tensor) => {
    const wide = graph.cast(tensor, 'float32');
    return graph.reshape(graph.sum(graph.square(wide), [...tensor.shape.keys()]), []);
  });
  return graph.unary(
    'sqrt',
    squares.reduce((sum, square) => graph.add(sum, square)),
  );
}

/** Beyond it a factor serves no float16. */
const LARGEST_SCALE = 2 ** 24;

/**
 * The factor of the next step's loss (Micikevicius et al. 2018, "Mixed precision training"): `backoff` times as
 * large after gradients that were not finite, `growth` times after `interval` steps that were.
 */
function scaleLoss({ graph, inputs, attributes }: StepCall): readonly GraphTensor[] {
  const [scale, good, finite] = inputs;
  if (scale === undefined || good === undefined || finite === undefined) return [];
  const served = graph.add(good, 1);
  const interval = graph.scalar(intAttribute(attributes, 'interval'), 'int32');
  const isServed = graph.lessEqual(interval, served);
  const grown = graph.mul(scale, floatAttribute(attributes, 'growth'));
  const larger = graph.call('minimum', [grown, graph.scalar(LARGEST_SCALE, 'float32')]);
  const cut = graph.mul(scale, floatAttribute(attributes, 'backoff'));
  const smaller = graph.call('maximum', [cut, graph.scalar(1, 'float32')]);
  const next = graph.where(finite, graph.where(isServed, larger, scale), smaller);
  const zero = graph.scalar(0, 'int32');
  const goes = graph.call('bitwise_and', [finite, graph.call('less', [served, interval])]);
  return [next, graph.where(goes, served, zero)];
}

interface TrainingCall {
  readonly graph: GraphBuilder;
  readonly inputs: readonly GraphTensor[];
  /** All attributes, defaults included. */
  readonly attributes: Attributes;
}

/** The results of an operator of training, written out in others; undefined for any other operator. */
export function expandTrainingCall(
  name: string,
  call: TrainingCall,
): readonly GraphTensor[] | undefined {
  if (isOptimizer(name)) return expandOptimizer(name, call);
  if (isSchedule(name)) return [rateOf(name, { ...call, step: stepOf(call, 0) })];
  if (isLoss(name)) return [expandLoss(name, call)];
  return isStepOperator(name) ? STEP_OPERATORS[name](call) : undefined;
}

function expandOptimizer(name: OptimizerName, call: TrainingCall): readonly GraphTensor[] {
  const { graph, inputs, attributes } = call;
  const [parameter, gradient, ...rest] = inputs;
  const count = OPTIMIZER_SIGNATURES[name].slots.length;
  const rate = rest[count];
  if (parameter === undefined || gradient === undefined || rate === undefined) return [];
  return optimize(OPTIMIZERS[name], {
    graph,
    parameter,
    gradient,
    slots: rest.slice(0, count),
    rate,
    step: stepOf(call, count + 3),
    attributes,
  });
}

/** In float32, or float64 where the model gives that: sums of half precision lose too much. */
function expandLoss(name: LossName, { graph, inputs, attributes }: TrainingCall): GraphTensor {
  const [given, wanted] = inputs;
  if (given === undefined || wanted === undefined) throw new Error(`internal: ${name} of nothing`);
  const dtype = given.dtype === 'float64' ? 'float64' : 'float32';
  const isIndices = name === 'cross_entropy' && !wanted.dtype.includes('float');
  const loss = LOSSES[name]({
    graph,
    given: graph.cast(given, dtype),
    wanted: isIndices ? wanted : graph.cast(wanted, dtype),
    attributes,
  });
  return graph.cast(loss, 'float32');
}

function stepOf({ graph, inputs }: TrainingCall, index: number): GraphTensor {
  const step = inputs[index];
  if (step === undefined) throw new Error(`internal: no input ${index}`);
  return graph.cast(step, 'float32');
}

const isOptimizer = (name: string): name is OptimizerName =>
  Object.hasOwn(OPTIMIZER_SIGNATURES, name);
const isSchedule = (name: string): name is ScheduleName => Object.hasOwn(SCHEDULE_ATTRIBUTES, name);
const isLoss = (name: string): name is LossName => Object.hasOwn(LOSS_ATTRIBUTES, name);
const isStepOperator = (name: string): name is StepOperatorName =>
  Object.hasOwn(STEP_OPERATORS, name);

interface ScheduleCall {
  readonly graph: GraphBuilder;
  /** The number of the step, from 1 on, as a float32 of rank 0. */
  readonly step: GraphTensor;
  readonly attributes: Attributes;
}

/** The factor of the learning rate in a step, besides that of the warm-up. */
type Schedule = (call: ScheduleCall) => GraphTensor | 1;

const SCHEDULES: Readonly<Record<ScheduleName, Schedule>> = {
  constant_rate: () => 1,
  /** `factor` once for every `every` steps. */
  step_rate: ({ graph, ...call }) =>
    power({ graph, ...call }, graph.unary('floor', passed({ graph, ...call }))),
  /** `factor` to the power of the steps over `every`. */
  exponential_rate: (call) => power(call, passed(call)),
  linear_rate: (call) => between(call, call.graph.sub(one(call), progress(call))),
  /** Half a cosine (Loshchilov and Hutter 2017, "SGDR"), without restarts. */
  cosine_rate(call) {
    const { graph } = call;
    const cosine = graph.unary('cos', graph.mul(progress(call), Math.PI));
    return between(call, graph.mul(graph.add(cosine, 1), 0.5));
  },
  /** The schedule of "Attention is all you need" (Vaswani et al. 2017), with the rate at its peak. */
  inverse_sqrt_rate(call) {
    const { graph, attributes } = call;
    const begin = Math.max(intAttribute(attributes, 'warmup'), 1);
    const since = graph.call('maximum', [call.step, graph.scalar(begin, 'float32')]);
    return graph.unary('sqrt', graph.div(graph.scalar(begin, 'float32'), since));
  },
};

/** The learning rate of a step: it grows linearly over `warmup` steps, then follows the schedule. */
function rateOf(name: ScheduleName, call: ScheduleCall): GraphTensor {
  const { graph, step, attributes } = call;
  const rate = graph.scalar(floatAttribute(attributes, 'rate'), 'float32');
  const scheduled = graph.mul(rate, SCHEDULES[name](call));
  const warmup = intAttribute(attributes, 'warmup');
  if (warmup === 0) return scheduled;
  const warm = graph.call('minimum', [graph.div(step, warmup), one(call)]);
  return graph.mul(scheduled, warm);
}

function one({ graph }: ScheduleCall): GraphTensor {
  return graph.scalar(1, 'float32');
}

/** Steps that were done before this one, in units of `every`. */
function passed({ graph, step, attributes }: ScheduleCall): GraphTensor {
  return graph.div(graph.sub(step, 1), intAttribute(attributes, 'every'));
}

function power({ graph, attributes }: ScheduleCall, exponent: GraphTensor): GraphTensor {
  const factor = graph.scalar(floatAttribute(attributes, 'factor'), 'float32');
  return graph.call('pow', [factor, exponent]);
}

/** From 0 at the end of the warm-up to 1 at `steps`, and from there on. */
function progress({ graph, step, attributes }: ScheduleCall): GraphTensor {
  const warmup = intAttribute(attributes, 'warmup');
  const length = Math.max(intAttribute(attributes, 'steps') - warmup, 1);
  const share = graph.div(graph.sub(step, warmup), length);
  return graph.call('clip', [share], { min: 0, max: 1 });
}

/** A rate that goes from 1 down to `final` as `left` goes from 1 to 0. */
function between({ graph, attributes }: ScheduleCall, left: GraphTensor): GraphTensor {
  const final = floatAttribute(attributes, 'final');
  return graph.add(graph.mul(left, 1 - final), final);
}

/** Operands of a loss: the output of the model (`given`) and its target (`wanted`). */
interface LossCall {
  readonly graph: GraphBuilder;
  readonly given: GraphTensor;
  readonly wanted: GraphTensor;
  readonly attributes: Attributes;
}

/** The losses by the names of their operators, each a mean in float32, or float64 where the model gives that. */
const LOSSES: Readonly<Record<LossName, (call: LossCall) => GraphTensor>> = {
  cross_entropy: crossEntropy,
  /** Of scores before the sigmoid, without overflow: max(x, 0) - x y + log(1 + exp(-|x|)). */
  binary_cross_entropy({ graph, given: x, wanted: y }) {
    const above = graph.unary('relu', x);
    const tail = graph.unary('log1p', graph.unary('exp', graph.neg(graph.unary('abs', x))));
    return meanOf(graph, graph.add(graph.sub(above, graph.mul(x, y)), tail));
  },
  mean_squared_error: ({ graph, given, wanted }) =>
    meanOf(graph, graph.square(graph.sub(given, wanted))),
  mean_absolute_error: ({ graph, given, wanted }) =>
    meanOf(graph, graph.unary('abs', graph.sub(given, wanted))),
  /** Huber 1964: half the square up to `delta`, a line of that slope beyond it. */
  huber({ graph, given, wanted, attributes }) {
    const delta = floatAttribute(attributes, 'delta');
    const error = graph.unary('abs', graph.sub(given, wanted));
    const near = graph.call('minimum', [error, graph.scalar(delta, error.dtype)]);
    // Half the square of the near part, and delta times what is beyond it.
    const beyond = graph.mul(graph.sub(error, near), delta);
    return meanOf(graph, graph.add(graph.mul(graph.square(near), 0.5), beyond));
  },
};

/**
 * Of scores before the softmax, with wanted classes as indices or as probabilities. `smoothing` takes that share
 * of the probability from what is wanted and spreads it over all classes (Szegedy et al. 2016). Places of the
 * index `ignore` count for nothing; where all are ignored the loss is 0.
 */
function crossEntropy(call: LossCall): GraphTensor {
  const { graph, given, wanted, attributes } = call;
  const rank = given.shape.length;
  const axis = (intAttribute(attributes, 'axis') + rank) % rank;
  const logs = graph.call('log_softmax', [given], { axis });
  const smoothing = floatAttribute(attributes, 'smoothing');
  const classes = given.shape[axis] ?? 1;
  const spread = smoothing === 0 ? undefined : graph.neg(graph.mean(logs, [axis]));
  const blend = (loss: GraphTensor) =>
    spread === undefined
      ? loss
      : graph.add(graph.mul(loss, 1 - smoothing), graph.mul(spread, smoothing));
  if (isFloat(wanted.dtype)) {
    return meanOf(graph, blend(graph.neg(graph.sum(graph.mul(logs, wanted), [axis]))));
  }
  const index = graph.reshape(graph.cast(wanted, 'int32'), given.shape.toSpliced(axis, 1, 1));
  const places = given.shape.map((_, i) => (i === axis ? classes : 1));
  const numbers = graph.reshape(graph.cast(graph.count(classes), 'int32'), places);
  const picked = graph.where(graph.equal(numbers, index), logs, 0);
  const losses = blend(graph.neg(graph.sum(picked, [axis])));
  const isIgnored = graph.equal(index, intAttribute(attributes, 'ignore'));
  const counted = graph.where(isIgnored, graph.scalar(0, logs.dtype), 1);
  const total = sumOf(graph, graph.where(isIgnored, 0, losses));
  const count = graph.call('maximum', [sumOf(graph, counted), graph.scalar(1, logs.dtype)]);
  return graph.div(total, count);
}

function meanOf(graph: GraphBuilder, x: GraphTensor): GraphTensor {
  return graph.reshape(graph.mean(x, axesOf(x)), []);
}

function sumOf(graph: GraphBuilder, x: GraphTensor): GraphTensor {
  return graph.reshape(graph.sum(x, axesOf(x)), []);
}

function axesOf({ shape }: GraphTensor): number[] {
  return shape.map((_, axis) => axis);
}
