import { call, constant, scalar, variable } from '../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../compiler/ir/expr.ts';
import {
  OPTIMIZER_SIGNATURES,
  type OptimizerName,
} from '../../compiler/ir/operators/training-operators.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../core/random.ts';
import type { ImportTraining } from '../onnx/import-training.ts';

/** A parameter that is trained, with the tensors that the optimiser keeps for it. */
interface TrainedParameter {
  readonly parameter: VarExpr;
  readonly slots: readonly VarExpr[];
}

interface TrainingStateOptions {
  readonly imported: ImportTraining;
  readonly tensors: ReadonlyMap<string, HostTensor>;
  readonly optimizer: OptimizerName;
  readonly hasScale: boolean;
  readonly seed: number;
}

/** The factor with which losses in half precision begin. */
const FIRST_SCALE = 65_536;

/**
 * The tensors that go from step to step. Parameters in half precision are kept in single, so that small steps
 * are not lost in rounding.
 */
export class TrainingState {
  readonly trained: readonly TrainedParameter[];
  /** Running averages of the model. */
  readonly averages: readonly VarExpr[];
  readonly step: VarExpr = variable('step', 'int32', []);
  readonly scale: { readonly factor: VarExpr; readonly served: VarExpr } | undefined;
  readonly #options: TrainingStateOptions;

  constructor(options: TrainingStateOptions) {
    const { imported, optimizer } = options;
    this.#options = options;
    const averages = new Set(imported.updates.keys());
    const factors = [...(imported.adapters?.byMatrix.values() ?? [])];
    const trained = [
      ...[...imported.variables].flatMap(([name, param]) => (averages.has(name) ? [] : [param])),
      ...factors.flatMap(({ down, up }) => [down, up]),
    ];
    this.trained = trained.map((param) => {
      const parameter = withDtype(param, keptDtype(param));
      const slots = OPTIMIZER_SIGNATURES[optimizer].slots.map((slot) => ({
        ...parameter,
        name: `${param.name}.${slot}`,
      }));
      return { parameter, slots };
    });
    this.averages = [...averages].flatMap((name) => imported.variables.get(name) ?? []);
    this.scale = options.hasScale
      ? {
          factor: variable('loss_scale', 'float32', []),
          served: variable('loss_scale.steps', 'int32', []),
        }
      : undefined;
  }

  /** All tensors, in the order of parameters and results. */
  get all(): readonly VarExpr[] {
    const { factor, served } = this.scale ?? {};
    return [
      ...this.kept,
      this.step,
      ...(factor === undefined || served === undefined ? [] : [factor, served]),
    ];
  }

  /** Parameters, slots and running averages. */
  get kept(): readonly VarExpr[] {
    return [
      ...this.trained.map(({ parameter }) => parameter),
      ...this.trained.flatMap(({ slots }) => slots),
      ...this.averages,
    ];
  }

  /** Parameters and running averages: what the model itself reads. */
  get weights(): readonly VarExpr[] {
    return [...this.trained.map(({ parameter }) => parameter), ...this.averages];
  }

  /**
   * Arguments of the model's own function before its inputs, in its dtypes. `trained` are used in
   * place of the variables of the same names.
   */
  modelArguments(trained: readonly VarExpr[]): Expr[] {
    const { imported } = this.#options;
    const byName = new Map([...this.averages, ...trained].map((param) => [param.name, param]));
    const adapters = [...(imported.adapters?.byMatrix.values() ?? [])];
    const wanted = [
      ...imported.variables.values(),
      ...adapters.flatMap(({ down, up }) => [down, up]),
    ];
    return wanted.map((param) => {
      const value = byName.get(param.name) ?? param;
      const [from, to] = [dtypeOf(value), dtypeOf(param)];
      return from === to ? value : call('cast', [value], { to });
    });
  }

  /** The values with which training begins, in the order of {@link all}. */
  initialValues(): Expr[] {
    const parameters = this.trained.map(({ parameter }) => this.#initial(parameter));
    const slots = this.trained.flatMap((trained) => trained.slots.map(zeros));
    const averages = this.averages.map((average) => this.#initial(average));
    const scale = this.scale === undefined ? [] : [scalar(FIRST_SCALE), scalar(0, 'int32')];
    return [...parameters, ...slots, ...averages, scalar(0, 'int32'), ...scale];
  }

  #initial(param: VarExpr): Expr {
    const { tensors, imported, seed } = this.#options;
    const tensor = tensors.get(param.name);
    if (tensor !== undefined && imported.variables.has(param.name)) {
      const value = constant(tensor, { source: param.name });
      return tensor.dtype === dtypeOf(param)
        ? value
        : call('cast', [value], { to: dtypeOf(param) });
    }
    const adapters = [...(imported.adapters?.byMatrix.values() ?? [])];
    const index = adapters.findIndex(({ down }) => down.name === param.name);
    return index < 0 ? zeros(param) : constant(randomMatrix(param, seed + index));
  }
}

/** Uniform numbers of the variance 1 / depth; the other factor is zero, so that the model begins as it is. */
function randomMatrix(param: VarExpr, seed: number): HostTensor {
  const shape = (param.type?.kind === 'tensor' ? param.type.shape : []).map(Number);
  const [depth = 1, rank = 1] = shape;
  const random = seededRandom(seed);
  const bound = Math.sqrt(3 / depth);
  const values = Array.from({ length: depth * rank }, () => bound * (2 * random() - 1));
  return HostTensor.from('float32', shape, values);
}

function zeros(param: VarExpr): Expr {
  const shape = param.type?.kind === 'tensor' ? param.type.shape : [];
  const dtype = dtypeOf(param);
  return shape.length === 0 ? scalar(0, dtype) : call('full', [], { shape, value: 0, dtype });
}

function keptDtype(param: VarExpr): DType {
  return dtypeOf(param) === 'float64' ? 'float64' : 'float32';
}

export function dtypeOf({ type }: VarExpr): DType {
  return type?.kind === 'tensor' ? type.dtype : 'float32';
}

/** The parameter as one of another dtype, by the same name. */
function withDtype(param: VarExpr, dtype: DType): VarExpr {
  const shape = param.type?.kind === 'tensor' ? param.type.shape : [];
  return variable(param.name, dtype, shape);
}
