import * as ir from '../../compiler/ir/build.ts';
import { CompileBudget } from '../../compiler/ir/compile-budget.ts';
import type { Expr, FunctionExpr, GlobalExpr, Module, VarExpr } from '../../compiler/ir/expr.ts';
import { LOSS_ATTRIBUTES } from '../../compiler/ir/operators/training-operators.ts';
import type { DimBindings } from '../../compiler/passes/dims/bind-dims.ts';
import { mapFunctions, rewrite } from '../../compiler/ir/walk/visit.ts';
import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import { UnsupportedError, UsageError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type { TypeDefinition } from '../../compiler/ir/type.ts';
import { declaredDim } from '../onnx/model/declared-type.ts';
import { type Adapter, ImportAdapters } from '../onnx/import-adapters.ts';
import { importWithin } from '../onnx/import-onnx.ts';
import { ImportTraining, type ImportTrainingOptions } from '../onnx/import-training.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { dtypeFromOnnx } from '../onnx/protobuf/read-tensor.ts';
import type { GraphProto } from '../onnx/protobuf/schema.ts';
import { checkTraining, matcherOf, type TrainingOptions } from './training-options.ts';
import { dtypeOf, TrainingState } from './training-state.ts';
import { FORWARD, forward, lossExpr, type StepInputs, trainingStep } from './training-step.ts';

/** A program that trains a model. */
export interface TrainingProgram {
  /**
   * Its functions: `main` is a step, from the state, the model's inputs, `targets` and perhaps `rate` to `loss` and the
   * next state; `init` gives the state to begin with, `predict` the model's outputs and `evaluate` the loss from
   * the weights of a state and a batch, and `weights` what the model's initializers have become.
   */
  readonly module: Module;
  /** Names of the tensors that go from step to step, inputs and outputs of `main`. */
  readonly state: readonly string[];
  /** Those of them that the model itself reads: inputs of `predict`, `evaluate` and `weights`. */
  readonly weights: readonly string[];
  /** Decisions of the import that a user may want to know. */
  readonly notes: readonly string[];
}

/** The key of the metadata under which a program has the names of its state, as JSON. */
const TRAINING_NAMES = 'training';

const PREDICT = 'training.predict';

/**
 * Reads an ONNX model and writes the program that trains it, one step of which is forward pass, loss, derivatives and
 * update. Dropout and BatchNormalization do there what they do in training, in `predict` and `evaluate` what they do
 * in inference.
 *
 * Throws FormatError for bytes that are no model, UsageError for a pattern of `wrt` that fits nothing and an output
 * that does not exist, UnsupportedError that lists every node that cannot be imported.
 */
export function gradOnnx(bytes: Uint8Array, options: TrainingOptions): TrainingProgram {
  checkTraining(options);
  return new CompileBudget(options.compileLimits).run(() => gradWithin(bytes, options));
}

function gradWithin(bytes: Uint8Array, options: TrainingOptions): TrainingProgram {
  const { graph } = readMessage('ModelProto', bytes);
  // Without a graph the import says what is wrong.
  if (graph === undefined) {
    return { module: importWithin(bytes, options), state: [], weights: [], notes: [] };
  }
  const outputs = graph.output.map(({ name = '' }) => name);
  const output = options.output ?? outputs[0] ?? '';
  requireOutput(output, outputs);
  const tensors = new Map<string, HostTensor>();
  const choice = parametersOf(graph, options);
  const dims = { ...batchDims(graph, options.batch), ...options.dims };
  const importAs = (mode: ImportTrainingOptions['mode']) => {
    const training = new ImportTraining({
      mode,
      isParameter: choice.isParameter,
      adapters: options.lora && new ImportAdapters(options.lora, choice.isAdapted),
      output,
      dropped: droppedAtEnd(options),
      tensors,
    });
    return { training, module: importWithin(bytes, { ...options, dims, training }) };
  };
  const trained = importAs('training');
  const inferred = importAs('inference');
  requireAdapters(options, trained.training, choice.names);
  const state = new TrainingState({
    imported: trained.training,
    tensors,
    optimizer: options.optimizer?.name ?? 'adamw',
    hasScale: options.lossScale === 'dynamic',
    seed: options.seed ?? 0,
  });
  const targets = targetsOf(trained.training.outputs.get(output), output, options);
  const given: StepInputs = {
    inputs: trained.training.inputs,
    targets,
    outputs,
    takesKey: trained.training.takesKey,
  };
  requireNames(state, given);
  const functions = {
    main: trainingStep(state, given, options),
    init: ir.func([], ir.tuple(state.initialValues()), {
      resultNames: state.all.map(({ name }) => name),
    }),
    predict: predictFunction(state, given),
    evaluate: evaluateFunction(state, given, options),
    weights: weightsFunction(state, trained.training, tensors),
  };
  const models = { [FORWARD]: trained.module, [PREDICT]: inferred.module };
  const names = {
    state: state.all.map(({ name }) => name),
    weights: state.weights.map(({ name }) => name),
  };
  return {
    module: { ...joined(functions, models), metadata: { [TRAINING_NAMES]: JSON.stringify(names) } },
    ...names,
    notes: notesOf(trained.training, options),
  };
}

/** The number for the first dimensions of the inputs, where these are symbols. */
function batchDims({ input, initializer }: GraphProto, batch: number | undefined): DimBindings {
  if (batch === undefined) return {};
  const constants = new Set(initializer.map(({ name }) => name));
  const symbols = input.flatMap(({ name = '', type }): string[] => {
    const [first] = type?.tensorType?.shape?.dim ?? [];
    if (constants.has(name) || first === undefined) return [];
    const dim = declaredDim(first) ?? `${name}.0`;
    return typeof dim === 'number' ? [] : [dim];
  });
  return Object.fromEntries(symbols.map((symbol) => [symbol, batch]));
}

interface ParameterChoice {
  readonly names: readonly string[];
  readonly isParameter: (name: string) => boolean;
  readonly isAdapted: (name: string) => boolean;
}

/** The initializers that become parameters: those of `wrt`, and running averages. */
function parametersOf(graph: GraphProto, { wrt, lora }: TrainingOptions): ParameterChoice {
  const averages = new Set(
    graph.node.flatMap(({ opType, domain, input }) =>
      opType === 'BatchNormalization' && (domain ?? '') === '' ? input.slice(3, 5) : [],
    ),
  );
  const all = graph.initializer.map(({ name = '', dataType }) => ({
    name,
    isFloat: dtypeInfo(dtypeFromOnnx(dataType, `initializer "${name}"`)).category === 'float',
  }));
  const floats = all.flatMap(({ name, isFloat }) => (isFloat ? [name] : []));
  if (lora !== undefined) {
    const matrices = matricesOf(graph);
    const isAdapted = matcherOf(wrt, matrices, 'matrices of MatMul, Gemm and MatMulNBits');
    return { names: matrices, isAdapted, isParameter: (name) => averages.has(name) };
  }
  const candidates = floats.filter((name) => !averages.has(name));
  const isTrained = matcherOf(wrt, candidates, 'initializers of floats');
  const parameters = new Set(floats.filter((name) => averages.has(name) || isTrained(name)));
  return { names: candidates, isParameter: (name) => parameters.has(name), isAdapted: () => false };
}

function matricesOf(graph: GraphProto): string[] {
  const initializers = new Set(graph.initializer.map(({ name = '' }) => name));
  const matrices = graph.node.flatMap(({ opType = '', input }) =>
    ['MatMul', 'Gemm', 'MatMulNBits'].includes(opType) ? (input[1] ?? []) : [],
  );
  return [...new Set(matrices)].filter((name) => initializers.has(name));
}

function requireAdapters(
  { lora, wrt }: TrainingOptions,
  { adapters }: ImportTraining,
  names: readonly string[],
): void {
  if (lora === undefined || (adapters?.byMatrix.size ?? 0) > 0) return;
  throw new UsageError({
    where: 'wrt',
    got: `${wrt.join(', ')}, of which no output depends on any`,
    expected: `matrices that the model reads, among ${names.join(', ')}`,
  });
}

/** A cross entropy wants scores: a softmax at the end of the model is a part of it. */
function droppedAtEnd({ loss }: TrainingOptions): ImportTrainingOptions['dropped'] {
  if (loss.name === 'cross_entropy') {
    const axis = Number(loss.settings?.['axis'] ?? -1);
    return { operators: ['softmax', 'log_softmax'], axis };
  }
  const isBinary = loss.name === 'binary_cross_entropy';
  return isBinary ? { operators: ['sigmoid'], axis: 0 } : undefined;
}

function requireOutput(output: string, outputs: readonly string[]): void {
  if (outputs.includes(output)) return;
  const expected = `one of ${outputs.map((name) => JSON.stringify(name)).join(', ')}`;
  throw new UsageError({ where: 'output', got: JSON.stringify(output), expected });
}

/** The input of what is wanted, for the type of what the model gives. */
function targetsOf(
  type: TensorType | undefined,
  output: string,
  { loss, targets }: TrainingOptions,
): VarExpr | undefined {
  if (loss.name === 'output') return undefined;
  if (type === undefined) {
    throw new UnsupportedError({
      where: `output "${output}"`,
      got: 'a value whose rank depends on how the model runs',
      expected: 'a tensor, which a loss can be of',
    });
  }
  const isClasses = loss.name === 'cross_entropy';
  const dtype: DType = targets ?? (isClasses ? 'int64' : type.dtype);
  if (dtypeInfo(dtype).category === 'float' || !isClasses)
    return ir.variable('targets', dtype, type.shape);
  const given = loss.settings?.['axis'] ?? LOSS_ATTRIBUTES.cross_entropy.axis.default;
  const axis = (Number(given) + type.shape.length) % type.shape.length;
  return ir.variable('targets', dtype, type.shape.toSpliced(axis, 1));
}

/** Throws UsageError for an input of the model that has the name of another parameter of `main`. */
function requireNames(state: TrainingState, { inputs, targets }: StepInputs): void {
  const taken = new Set(['loss', 'gradient_norm', 'rate', ...state.all.map(({ name }) => name)]);
  if (targets !== undefined) taken.add('targets');
  const twice = inputs.find(({ name }) => taken.has(name));
  if (twice === undefined) return;
  throw new UsageError({
    where: `input ${JSON.stringify(twice.name)}`,
    got: 'the name of a tensor of the training',
    expected: `none of ${[...taken].slice(0, 4).join(', ')}, …`,
    remedy: 'Rename the input in the model.',
  });
}

function predictFunction(state: TrainingState, given: StepInputs): FunctionExpr {
  const values = predicted(state, given).slice(0, -1);
  return ir.func([...state.weights, ...given.inputs], resultOf(values), {
    resultNames: given.outputs,
  });
}

function resultOf(values: readonly Expr[]): Expr {
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : ir.tuple(values);
}

function predicted(state: TrainingState, { inputs, outputs }: StepInputs): Expr[] {
  const trained = state.trained.map(({ parameter }) => parameter);
  const given = { inputs, outputs, takesKey: false };
  return forward(state, given, { trained, key: state.step, name: PREDICT });
}

/** A function that computes the loss of the model in inference. */
function evaluateFunction(
  state: TrainingState,
  given: StepInputs,
  options: TrainingOptions,
): FunctionExpr {
  const { targets } = given;
  const wanted = targets ?? state.step;
  const value = predicted(state, given).at(-1) ?? wanted;
  const params = [...state.weights, ...given.inputs, ...(targets === undefined ? [] : [targets])];
  return ir.func(params, lossExpr(value, wanted, options), {
    resultNames: ['loss'],
  });
}

/**
 * The function that gives initializers as they are after training. Matrices of floats are merged
 * with their low-rank factors.
 */
function weightsFunction(
  state: TrainingState,
  { variables, adapters, updates }: ImportTraining,
  tensors: ReadonlyMap<string, HostTensor>,
): FunctionExpr {
  const params = new Map(state.weights.map((param) => [param.name, param]));
  const results = new Map<string, Expr>();
  for (const [name, written] of variables) {
    const value = params.get(name) ?? written;
    const to = dtypeOf(written);
    results.set(
      name,
      updates.has(name) || dtypeOf(value) === to ? value : ir.call('cast', [value], { to }),
    );
  }
  for (const [name, adapter] of adapters?.byMatrix ?? []) {
    const down = params.get(adapter.down.name) ?? adapter.down;
    const up = params.get(adapter.up.name) ?? adapter.up;
    const matrix = tensors.get(name);
    if (!adapter.isMergeable || matrix === undefined) {
      results.set(down.name, down).set(up.name, up);
      continue;
    }
    results.set(name, merged(adapter, { down, up, matrix }));
  }
  return ir.func([...params.values()], resultOf([...results.values()]), {
    resultNames: [...results.keys()],
  });
}

/** W + scale A B, in the layout and the dtype of W. */
function merged(
  { scale, isTransposed }: Adapter,
  { down, up, matrix }: { down: Expr; up: Expr; matrix: HostTensor },
): Expr {
  const product = ir.call('mul', [ir.call('matmul', [down, up]), ir.scalar(scale)]);
  const turned = isTransposed ? ir.call('transpose', [product], { perm: [1, 0] }) : product;
  const { dtype } = matrix;
  const base = ir.constant(matrix);
  if (dtype === 'float32') return ir.call('add', [base, turned]);
  const sum = ir.call('add', [ir.call('cast', [base], { to: 'float32' }), turned]);
  return ir.call('cast', [sum], { to: dtype });
}

/** One module of functions and of models, whose `main`s get the names given. */
function joined(
  functions: Readonly<Record<string, FunctionExpr>>,
  models: Readonly<Record<string, Module>>,
): Module {
  const all = new Map(Object.entries(functions));
  const types = new Map<string, TypeDefinition>();
  for (const [prefix, module] of Object.entries(models)) {
    const rename = (name: string) => (name === 'main' ? prefix : `${prefix}.${name}`);
    const renamed = mapFunctions(module, (fn) => ({
      ...fn,
      body: rewrite(fn.body, (expr) =>
        expr.kind === 'global' && module.functions.has(expr.name)
          ? ({ kind: 'global', name: rename(expr.name) } satisfies GlobalExpr)
          : expr,
      ),
    }));
    for (const [name, { attributes, ...fn }] of renamed.functions) {
      const { resultNames: _, ...others } = attributes;
      all.set(rename(name), { ...fn, attributes: { ...others, private: true } });
    }
    for (const [name, type] of module.types) types.set(name, type);
  }
  return ir.moduleOf(Object.fromEntries(all), {}, [...types.values()]);
}

function notesOf(
  { droppedOperator, updates, takesKey }: ImportTraining,
  { loss }: TrainingOptions,
): string[] {
  const notes: string[] = [];
  if (droppedOperator !== undefined) {
    notes.push(`${loss.name} is taken before the ${droppedOperator} at the end of the model`);
  }
  if (updates.size > 0) {
    notes.push(`batch statistics are used, and ${updates.size} running averages go along`);
  }
  if (takesKey) notes.push('Dropout drops others in each step');
  return notes;
}
