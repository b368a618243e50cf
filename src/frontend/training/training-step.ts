import * as ir from '../../compiler/ir/build.ts';
import {
  allFinite,
  clipByGlobalNorm,
  learningRate,
  lossOf,
  optimizerStep,
} from '../../compiler/ir/operators/build-training.ts';
import type { Expr, FunctionExpr, VarExpr } from '../../compiler/ir/expr.ts';
import { OPTIMIZER_SIGNATURES } from '../../compiler/ir/operators/training-operators.ts';
import type { TrainingState } from './training-state.ts';
import type { TrainingOptions } from './training-options.ts';

/** The function of the module that computes outputs, then running averages. */
export const FORWARD = 'training.forward';

const DEFAULT_RATE = 1e-3;

/** Operands of a step besides the state. */
export interface StepInputs {
  readonly inputs: readonly VarExpr[];
  /** The targets of the loss; absent where the model computes its loss. */
  readonly targets: VarExpr | undefined;
  /** Names of the model's outputs. */
  readonly outputs: readonly string[];
  /** True if the forward function takes the number of the step. */
  readonly takesKey: boolean;
}

/** The function of one step: the state and a batch to the loss and the next state. */
export function trainingStep(
  state: TrainingState,
  given: StepInputs,
  options: TrainingOptions,
): FunctionExpr {
  const next = ir.call('add', [state.step, ir.scalar(1, 'int32')]);
  const { loss, gradients, updates } = derivatives(state, { ...given, key: next }, options);
  const { gradients: clipped, norm } = clip(gradients, options);
  const { name: optimizer, settings } = options.optimizer ?? { name: 'adamw' };
  const rate = rateOf(next, options);
  const signature = OPTIMIZER_SIGNATURES[optimizer];
  const moved = state.trained.map(({ parameter, slots }, i) =>
    optimizerStep(
      optimizer,
      { parameter, gradient: clipped[i] ?? parameter, slots, rate: rate.value, step: next },
      settings,
    ),
  );
  const after: Expr[] = [
    ...moved.map((result) => ir.projection(result, 0)),
    ...moved.flatMap((result) => signature.slots.map((_, slot) => ir.projection(result, slot + 1))),
    ...updates,
    next,
  ];
  const before = [
    ...state.trained.map(({ parameter }) => parameter),
    ...state.trained.flatMap(({ slots }) => slots),
    ...state.averages,
    state.step,
  ];
  const kept = state.scale === undefined ? after : skipFaults(gradients, before, after);
  const scales = state.scale === undefined ? [] : nextScale(gradients, state.scale);
  const params = [
    ...state.all,
    ...given.inputs,
    ...(given.targets === undefined ? [] : [given.targets]),
    ...(rate.input === undefined ? [] : [rate.input]),
  ];
  const results = [loss, ...(norm === undefined ? [] : [norm]), ...kept, ...scales];
  const resultNames = [
    'loss',
    ...(norm === undefined ? [] : ['gradient_norm']),
    ...state.all.map(({ name }) => name),
  ];
  return ir.func(params, ir.tuple(results), { resultNames });
}

interface Derivatives {
  readonly loss: Expr;
  readonly gradients: readonly Expr[];
  /** Running averages after the step. */
  readonly updates: readonly Expr[];
}

/** The loss and its derivatives with respect to the parameters that are trained. */
function derivatives(
  state: TrainingState,
  given: StepInputs & { readonly key: Expr },
  options: TrainingOptions,
): Derivatives {
  const params = state.trained.map(({ parameter }) => ({ ...parameter }));
  const factor = lossFactor(state, options);
  const values = forward(state, given, { trained: params, key: given.key });
  const wanted = given.targets ?? ir.scalar(0);
  const loss = lossExpr(values[given.outputs.length] ?? wanted, wanted, options);
  const scaled = factor === undefined ? loss : ir.call('mul', [loss, factor]);
  const unscaled = (value: Expr) =>
    factor === undefined ? value : ir.call('div', [value, factor]);
  const updates = values.slice(given.outputs.length + 1);
  const arguments_ = state.trained.map(({ parameter }) => parameter);
  const gradientsOf = (result: Expr) =>
    state.trained.map(({ parameter }, i) => {
      const slope = ir.projection(ir.projection(result, 1), i);
      if (factor === undefined) return slope;
      const dtype = parameter.type?.kind === 'tensor' ? parameter.type.dtype : 'float32';
      return ir.call('div', [
        slope,
        dtype === 'float32' ? factor : ir.call('cast', [factor], { to: dtype }),
      ]);
    });
  if (updates.length === 0) {
    const result = ir.callFunction(ir.gradient(ir.func(params, scaled)), arguments_);
    return { loss: unscaled(ir.projection(result, 0)), gradients: gradientsOf(result), updates };
  }
  const all = ir.func(
    params,
    ir.tuple([scaled, ...updates.map((update) => ir.stopGradient(update))]),
  );
  const zeros = state.averages.map(({ type }) => {
    const { dtype, shape } = type?.kind === 'tensor' ? type : { dtype: 'float32', shape: [] };
    return ir.call('full', [], { shape, value: 0, dtype });
  });
  const result = ir.callFunction(ir.vjp(all), [...arguments_, ir.tuple([ir.scalar(1), ...zeros])]);
  const first = ir.projection(result, 0);
  return {
    loss: unscaled(ir.projection(first, 0)),
    gradients: gradientsOf(result),
    updates: updates.map((_, i) => ir.projection(first, i + 1)),
  };
}

/** The outputs of the model, what the loss is of, then running averages in training. */
export function forward(
  state: TrainingState,
  { inputs, outputs, takesKey }: Pick<StepInputs, 'inputs' | 'outputs' | 'takesKey'>,
  { trained, key, name = FORWARD }: { trained: readonly VarExpr[]; key: Expr; name?: string },
): Expr[] {
  const count = outputs.length + 1 + (name === FORWARD ? state.averages.length : 0);
  const args = [...state.modelArguments(trained), ...(takesKey ? [key] : []), ...inputs];
  const result = ir.callFunction(ir.global(name), args);
  return Array.from({ length: count }, (_, i) => ir.projection(result, i));
}

/** The loss, float32 of rank 0. */
export function lossExpr(given: Expr, wanted: Expr, { loss }: TrainingOptions): Expr {
  if (loss.name !== 'output') return lossOf(loss.name, { given, wanted }, loss.settings);
  return ir.call('reshape', [ir.call('cast', [given], { to: 'float32' })], { shape: [] });
}

function lossFactor(
  { scale }: TrainingState,
  { lossScale = 1 }: TrainingOptions,
): Expr | undefined {
  if (scale !== undefined) return scale.factor;
  return typeof lossScale === 'number' && lossScale !== 1 ? ir.scalar(lossScale) : undefined;
}

function clip(
  gradients: readonly Expr[],
  { clip: limits }: TrainingOptions,
): { gradients: readonly Expr[]; norm: Expr | undefined } {
  const { norm, value } = limits ?? {};
  const small =
    value === undefined
      ? gradients
      : gradients.map((slope) => ir.call('clip', [slope], { min: -value, max: value }));
  if (norm === undefined) return { gradients: small, norm };
  const result = clipByGlobalNorm(small, norm);
  return {
    gradients: small.map((_, i) => ir.projection(result, i)),
    norm: ir.projection(result, small.length),
  };
}

function rateOf(
  step: Expr,
  { rate = DEFAULT_RATE, schedule = { name: 'constant_rate' } }: TrainingOptions,
): { value: Expr; input: VarExpr | undefined } {
  const isInput = rate === 'input';
  const settings = { ...schedule.settings, rate: isInput ? 1 : rate };
  const scheduled = learningRate(schedule.name, step, settings);
  if (!isInput) return { value: scheduled, input: undefined };
  const input = ir.variable('rate', 'float32', []);
  return { value: ir.call('mul', [scheduled, input]), input };
}

/** The state before where gradients are not finite. */
function skipFaults(
  gradients: readonly Expr[],
  before: readonly Expr[],
  after: readonly Expr[],
): Expr[] {
  const finite = allFinite(gradients);
  return after.map((value, i) => ir.call('where', [finite, value, before[i] ?? value]));
}

function nextScale(
  gradients: readonly Expr[],
  { factor, served }: NonNullable<TrainingState['scale']>,
): Expr[] {
  const result = ir.call('scale_loss', [factor, served, allFinite(gradients)]);
  return [ir.projection(result, 0), ir.projection(result, 1)];
}
