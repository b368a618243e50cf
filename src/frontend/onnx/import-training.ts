import type { TypeInference } from '../../compiler/inference/type-inference.ts';
import { constant, tuple, variable } from '../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../compiler/ir/expr.ts';
import type { UnsupportedError } from '../../core/errors.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type { ImportAdapters } from './import-adapters.ts';

/** The name of the result that the loss is of, behind the outputs of the model. */
const SCORES = 'training.scores';

/** A node that is imported, and where it is computed. */
interface PlacedNode {
  readonly block: { readonly isAlwaysReached: boolean };
  unsupported(got: string, expected: string, remedy?: string): UnsupportedError;
}

/** The parameters and results of `main`. */
interface ImportedMain {
  readonly params: readonly VarExpr[];
  readonly outputs: readonly string[];
  readonly results: readonly Expr[];
}

/** Operators at the end of an output that a loss computes itself. */
interface DroppedOperator {
  readonly operators: readonly string[];
  /** The axis of the classes. */
  readonly axis: number;
}

export interface ImportTrainingOptions {
  readonly mode: 'training' | 'inference';
  /** Returns true for the name of an initializer that becomes a parameter. */
  readonly isParameter: (name: string) => boolean;
  readonly adapters?: ImportAdapters | undefined;
  /** The output that the loss is of. */
  readonly output: string;
  readonly dropped?: DroppedOperator | undefined;
  /** Tensors that were read before. */
  readonly tensors: Map<string, HostTensor>;
}

/**
 * How a model is imported for training: initializers become parameters of `main`, before its inputs, and in the mode
 * `training` Dropout and BatchNormalization do what they do there.
 */
export class ImportTraining {
  readonly mode: 'training' | 'inference';
  readonly adapters: ImportAdapters | undefined;
  /** The parameters that initializers became. */
  readonly variables = new Map<string, VarExpr>();
  /** Running averages of the model after a step, by initializer. */
  readonly updates = new Map<string, Expr>();
  readonly outputs = new Map<string, TensorType | undefined>();
  readonly inputs: VarExpr[] = [];
  /** The operator that was dropped at the end of the output. */
  droppedOperator: string | undefined;
  readonly #options: ImportTrainingOptions;
  #key: VarExpr | undefined;

  constructor(options: ImportTrainingOptions) {
    this.mode = options.mode;
    this.adapters = options.adapters;
    this.#options = options;
  }

  /** An initializer of the main graph: a parameter, or a constant. */
  initializer(name: string, read: () => HostTensor): Expr {
    const { tensors, isParameter } = this.#options;
    const tensor = tensors.get(name) ?? read();
    tensors.set(name, tensor);
    if (!isParameter(name)) return constant(tensor, { source: name });
    const param = variable(name, tensor.dtype, tensor.shape, { source: name });
    this.variables.set(name, param);
    return param;
  }

  /** The key of random numbers, another in each step. Throws UnsupportedError in loops. */
  key(node: PlacedNode): Expr {
    requireMain(node, 'random numbers');
    this.#key ??= variable('step', 'int32', []);
    return this.#key;
  }

  /** True if `main` takes a key, after the parameters. */
  get takesKey(): boolean {
    return this.#key !== undefined;
  }

  /** A running average that a step changes. Throws UnsupportedError where not every call comes by. */
  update(node: PlacedNode, before: Expr, after: Expr): void {
    const name = [...this.variables].find(([, param]) => param === before)?.[0];
    if (name === undefined) return;
    requireMain(node, 'running averages');
    this.updates.set(name, after);
  }

  /** The parameters and results of `main`: those of the model, and those of its training around them. */
  finish({
    params,
    outputs,
    results,
    types,
  }: ImportedMain & { readonly types: TypeInference }): ImportedMain {
    this.inputs.push(...params);
    for (const [i, name] of outputs.entries()) {
      const type = results[i] && types.of(results[i]);
      this.outputs.set(name, type?.kind === 'tensor' ? type : undefined);
    }
    const { output } = this.#options;
    const scores = this.#scoresOf(results[outputs.indexOf(output)] ?? tuple([]), types);
    const adapters = [...(this.adapters?.byMatrix.values() ?? [])];
    return {
      params: [
        ...this.variables.values(),
        ...adapters.flatMap(({ down, up }) => [down, up]),
        ...(this.#key === undefined ? [] : [this.#key]),
        ...params,
      ],
      outputs: [...outputs, SCORES, ...this.updates.keys()],
      results: [...results, scores, ...this.updates.values()],
    };
  }

  /**
   * The operand of the loss: that of a softmax at the end of the output where the loss includes it,
   * or else the output.
   */
  #scoresOf(result: Expr, types: TypeInference): Expr {
    const { dropped } = this.#options;
    if (dropped === undefined || result.kind !== 'call') return result;
    const { callee, args, attributes } = result;
    const [operand] = args;
    if (callee.kind !== 'operator' || operand === undefined) return result;
    const type = types.of(operand);
    const rank = type.kind === 'tensor' ? type.shape.length : 0;
    const { axis } = attributes;
    const isElsewhere = typeof axis === 'number' && (axis - dropped.axis) % rank !== 0;
    if (!dropped.operators.includes(callee.name) || isElsewhere) return result;
    this.droppedOperator = callee.name;
    return operand;
  }
}

function requireMain(node: PlacedNode, what: string): void {
  if (node.block.isAlwaysReached) return;
  throw node.unsupported(
    `${what} of training in a branch or a loop`,
    'the node in the main graph',
    'Move the node out of the graph, or train without it.',
  );
}
