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
import { LOSSES } from './losses.ts';
import { OPTIMIZERS, optimize } from './optimizers.ts';
import { rateOf } from './schedules.ts';
import { STEP_OPERATORS } from './step-operators.ts';

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

/** The number of the step as a float32. */
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
