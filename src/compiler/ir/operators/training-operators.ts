import type { Dim } from '../../../core/dims/dim.ts';
import { ShapeError } from '../../../core/errors.ts';
import type { AttributeSpec } from '../../../ops/define-op.ts';
import { isFloat } from '../../../ops/elementwise/number-dtypes.ts';
import type { ScalarOperator } from './scalar-operator.ts';
import { formatType, tensorType, type TensorTypeNode, type Type } from '../type.ts';

/** The tensors that an optimiser keeps for each parameter, and its settings. */
export interface OptimizerSignature {
  /** Names of the tensors, each of the parameter's shape, that begin as zeros. */
  readonly slots: readonly string[];
  /** The settings of the optimiser, by name. */
  readonly attributes: Readonly<Record<string, AttributeSpec>>;
}

const number = (value: number): AttributeSpec => ({ type: 'float', default: value });
const count = (value: number): AttributeSpec => ({ type: 'int', default: value, minimum: 0 });

/**
 * Operators that take a parameter, its gradient, the slots, the learning rate (float32 of rank 0) and the number
 * of the step (int32 of rank 0, from 1 on), and give a tuple of the new parameter and the new slots.
 */
export const OPTIMIZER_SIGNATURES = {
  sgd: { slots: [], attributes: { decay: number(0) } },
  momentum: {
    slots: ['velocity'],
    attributes: {
      momentum: number(0.9),
      dampening: number(0),
      nesterov: { type: 'bool', default: false },
      decay: number(0),
    },
  },
  adagrad: { slots: ['square'], attributes: { epsilon: number(1e-10), decay: number(0) } },
  adam: {
    slots: ['mean', 'square'],
    attributes: {
      beta1: number(0.9),
      beta2: number(0.999),
      epsilon: number(1e-8),
      decay: number(0),
    },
  },
  adamw: {
    slots: ['mean', 'square'],
    attributes: {
      beta1: number(0.9),
      beta2: number(0.999),
      epsilon: number(1e-8),
      decay: number(0.01),
    },
  },
  lion: {
    slots: ['mean'],
    attributes: { beta1: number(0.9), beta2: number(0.99), decay: number(0) },
  },
} as const satisfies Record<string, OptimizerSignature>;

/** The name of an optimiser. */
export type OptimizerName = keyof typeof OPTIMIZER_SIGNATURES;

const SCHEDULE = { rate: number(1), warmup: count(0) };

/** Operators from the number of the step, an int32 of rank 0 from 1 on, to the learning rate, a float32. */
export const SCHEDULE_ATTRIBUTES = {
  constant_rate: SCHEDULE,
  step_rate: { ...SCHEDULE, every: { type: 'int', minimum: 1 }, factor: number(0.1) },
  exponential_rate: { ...SCHEDULE, every: { type: 'int', minimum: 1 }, factor: number(0.1) },
  linear_rate: { ...SCHEDULE, steps: { type: 'int', minimum: 1 }, final: number(0) },
  cosine_rate: { ...SCHEDULE, steps: { type: 'int', minimum: 1 }, final: number(0) },
  inverse_sqrt_rate: SCHEDULE,
} as const satisfies Record<string, Readonly<Record<string, AttributeSpec>>>;

/** The name of a schedule of learning rates. */
export type ScheduleName = keyof typeof SCHEDULE_ATTRIBUTES;

/** Operators from what a model gives and what is wanted to a loss, a float32 of rank 0. */
export const LOSS_ATTRIBUTES = {
  cross_entropy: {
    axis: { type: 'int', default: -1 },
    smoothing: number(0),
    ignore: { type: 'int', default: -100 },
  },
  binary_cross_entropy: {},
  mean_squared_error: {},
  mean_absolute_error: {},
  huber: { delta: number(1) },
} as const satisfies Record<string, Readonly<Record<string, AttributeSpec>>>;

/** The name of a loss. */
export type LossName = keyof typeof LOSS_ATTRIBUTES;

/** Other operators of training. */
export type StepOperatorName =
  | 'global_norm'
  | 'clip_by_global_norm'
  | 'all_finite'
  | 'scale_loss'
  | 'dropout';

const RATE = tensorType({ dtype: 'float32', shape: [] });
const STEP = tensorType({ dtype: 'int32', shape: [] });

/** Operators of training, which the pass `expand-training` replaces by what they mean. */
export const TRAINING_OPERATORS: readonly ScalarOperator[] = [
  ...Object.entries(OPTIMIZER_SIGNATURES).map(([name, { slots, attributes }]): ScalarOperator => {
    const inputs = ['parameter', 'gradient', ...slots, 'rate', 'step'].map(() => 'tensor' as const);
    const result = (types: readonly Type[]) => optimizerType(name, types, slots.length);
    return { name, inputs, attributes, result };
  }),
  ...Object.entries(SCHEDULE_ATTRIBUTES).map(([name, attributes]): ScalarOperator => {
    const result = ([step]: readonly Type[]) => {
      requireType(`${name}: input step`, step, STEP);
      return RATE;
    };
    return { name, inputs: ['tensor'], attributes, result };
  }),
  ...Object.entries(LOSS_ATTRIBUTES).map(([name, attributes]): ScalarOperator => {
    const result = ([given, wanted]: readonly Type[], { axis }: { axis?: unknown }) =>
      lossType(name, [given, wanted], axis);
    return { name, inputs: ['tensor', 'tensor'], attributes, result };
  }),
  { name: 'global_norm', inputs: ['tensor'], rest: 'tensor', attributes: {}, result: () => RATE },
  {
    name: 'clip_by_global_norm',
    inputs: ['tensor'],
    rest: 'tensor',
    attributes: { limit: { type: 'float', minimum: 0 } },
    result: (types) => ({ kind: 'tuple', fields: [...types, RATE] }),
  },
  {
    name: 'all_finite',
    inputs: ['tensor'],
    rest: 'tensor',
    attributes: {},
    result: () => tensorType({ dtype: 'bool', shape: [] }),
  },
  {
    name: 'scale_loss',
    inputs: ['tensor', 'tensor', 'tensor'],
    attributes: {
      growth: number(2),
      backoff: number(0.5),
      interval: { type: 'int', default: 2000, minimum: 1 },
    },
    result: scaleType,
  },
  {
    name: 'dropout',
    inputs: ['tensor', 'tensor'],
    attributes: { ratio: number(0.5), stream: count(0) },
    result: dropoutType,
  },
];

function optimizerType(where: string, types: readonly Type[], slots: number): Type {
  const [parameter, gradient, ...rest] = types;
  requireFloat(`${where}: input parameter`, parameter);
  requireType(`${where}: input step`, rest[slots + 1], STEP);
  requireType(`${where}: input rate`, rest[slots], RATE);
  const kept = rest.slice(0, slots);
  for (const [i, type] of [gradient, ...kept].entries()) {
    requireFloat(`${where}: input ${i + 1}`, type);
    requireShape(`${where}: input ${i + 1}`, type, parameter);
  }
  const all = [parameter, ...kept].flatMap((type) => type ?? []);
  return { kind: 'tuple', fields: all };
}

function lossType(
  where: string,
  [given, wanted]: readonly (Type | undefined)[],
  axis: unknown,
): Type {
  const scores = requireFloat(`${where}: input 0`, given);
  if (wanted?.kind !== 'tensor') throw mismatch(`${where}: input 1`, wanted, 'a tensor');
  const isIndices = typeof axis === 'number' && !isFloat(wanted.dtype);
  if (!isIndices) {
    requireFloat(`${where}: input 1`, wanted);
    requireShape(`${where}: input 1`, wanted, scores);
    return RATE;
  }
  const rank = scores.shape.length;
  if (axis < -rank || axis >= rank) {
    throw new ShapeError({
      where: `${where}: attribute axis`,
      got: `${axis} for ${formatType(scores)}`,
      expected: rank === 0 ? 'scores with an axis' : `an axis from ${-rank} to ${rank - 1}`,
    });
  }
  const shape = scores.shape.toSpliced(axis < 0 ? axis + rank : axis, 1);
  requireShape(`${where}: input 1`, wanted, tensorType({ dtype: wanted.dtype, shape }));
  return RATE;
}

/** `(scale, good)`: the factor, and how many steps it has served. */
function scaleType([scale, good, finite]: readonly Type[]): Type {
  requireType('scale_loss: input scale', scale, RATE);
  requireType('scale_loss: input good', good, STEP);
  requireType('scale_loss: input finite', finite, tensorType({ dtype: 'bool', shape: [] }));
  return { kind: 'tuple', fields: [RATE, STEP] };
}

function dropoutType([x, key]: readonly Type[]): Type {
  requireType('dropout: input key', key, STEP);
  return requireFloat('dropout: input x', x);
}

function requireFloat(where: string, type: Type | undefined): TensorTypeNode {
  if (type?.kind === 'tensor' && isFloat(type.dtype)) return type;
  throw mismatch(where, type, 'a tensor of floats');
}

function requireType(where: string, type: Type | undefined, expected: TensorTypeNode): void {
  const isSame =
    type?.kind === 'tensor' &&
    type.dtype === expected.dtype &&
    type.shape.length === expected.shape.length;
  if (!isSame) throw mismatch(where, type, formatType(expected));
}

/** Refuses what is certainly another shape. */
function requireShape(where: string, type: Type | undefined, like: Type | undefined): void {
  if (type?.kind !== 'tensor' || like?.kind !== 'tensor') return;
  const isSame =
    type.shape.length === like.shape.length &&
    type.shape.every((dim, axis) => mayEqual(dim, like.shape[axis] ?? 1));
  if (isSame) return;
  throw mismatch(where, type, formatType(tensorType({ dtype: type.dtype, shape: like.shape })));
}

function mayEqual(a: Dim, b: Dim): boolean {
  return typeof a !== 'number' || typeof b !== 'number' || a === b;
}

function mismatch(where: string, type: Type | undefined, expected: string): ShapeError {
  return new ShapeError({
    where,
    got: type === undefined ? 'nothing' : formatType(type),
    expected,
  });
}
