import type { Expr } from '../../compiler/ir/expr.ts';
import { isOperatorCall } from '../../compiler/ir/operators/operator-name.ts';
import { reserveTensorMemory } from '../../core/limits/work-meter.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { ForeignNode } from '../foreign/foreign-node.ts';
import type { ImportNodeOptions } from '../onnx/import-node.ts';
import type { Block } from '../onnx/graph-scope.ts';
import type { ValuesOf } from './reader/flat-table.ts';
import { type OptionName, type Options, OPTIONS, readOptions } from './reader/options.ts';
import type { LiteOperator, LiteTensor } from './reader/read-model.ts';
import { TENSOR_TYPES } from './reader/schema.ts';

/** What a graph of the model gives for values, computed in a block of its own. */
type ImportGraph = (
  graph: number,
  inputs: readonly Expr[],
  where: string,
) => { readonly block: Block; readonly results: readonly Expr[] };

interface LiteNodeOptions extends ImportNodeOptions {
  readonly operator: LiteOperator;
  /** Types and scales of the inputs and outputs. */
  readonly inputTensors: readonly (LiteTensor | undefined)[];
  readonly outputTensors: readonly (LiteTensor | undefined)[];
  readonly importGraph: ImportGraph;
}

/** An operator of a TensorFlow Lite model, as an importer function sees it. */
export class LiteNode extends ForeignNode {
  readonly operator: LiteOperator;
  readonly inputTensors: readonly (LiteTensor | undefined)[];
  readonly outputTensors: readonly (LiteTensor | undefined)[];
  readonly #options: LiteNodeOptions;

  constructor(options: LiteNodeOptions) {
    super(options);
    this.operator = options.operator;
    this.inputTensors = options.inputTensors;
    this.outputTensors = options.outputTensors;
    this.#options = options;
  }

  /** The same operator with other inputs. */
  withInputs(inputs: readonly (Expr | undefined)[]): LiteNode {
    return new LiteNode({ ...this.#options, inputs });
  }

  /** Another graph of the model. Throws FormatError for a number that none has, and for a graph that calls itself. */
  importGraph(graph: number, inputs: readonly Expr[]): ReturnType<ImportGraph> {
    return this.#options.importGraph(graph, inputs, this.where);
  }

  /** Its options, defaults where it has none. Throws FormatError for options of another operator. */
  options<N extends OptionName>(name: N): ValuesOf<(typeof OPTIONS)[N]['fields']> {
    const { options, optionsType } = this.operator;
    const known: Options = OPTIONS[name];
    if (options !== undefined && optionsType !== known.union) {
      const expected = `${known.union}, those of its operator`;
      throw this.malformed(`options of kind ${optionsType}`, expected);
    }
    return readOptions(options, known) as ValuesOf<(typeof OPTIONS)[N]['fields']>;
  }

  /** The axes in another order; of constants at once, so that no kernel moves weights. */
  override transpose(x: Expr, perm: readonly number[]): Expr {
    if (x.kind === 'constant') return this.constant(transposed(x.value, perm));
    // Numbers that codes or halves of constants stand for, with their scales.
    if (isOperatorCall(x) && /^(cast|dequantize)$/.test(x.callee.name)) {
      const { args, attributes } = x;
      if (args.every((arg) => arg.kind === 'constant')) {
        const moved = args.map((arg) =>
          this.shape(arg).length === 0 ? arg : this.transpose(arg, perm),
        );
        return this.call(x.callee.name, moved, attributes);
      }
    }
    return super.transpose(x, perm);
  }

  /** (N, H, W, C) as (N, C, H, W), in which kernels compute; of more spatial axes likewise. */
  channelsSecond(x: Expr): Expr {
    const rank = this.shape(x).length;
    return this.transpose(x, [0, rank - 1, ...Array.from({ length: rank - 2 }, (_, i) => i + 1)]);
  }

  /** The reverse of {@link channelsSecond}. */
  channelsLast(x: Expr): Expr {
    const rank = this.shape(x).length;
    return this.transpose(x, [0, ...Array.from({ length: rank - 2 }, (_, i) => i + 2), 1]);
  }

  /** The dtype of an output as the model declares it. */
  outputType(index = 0): DType {
    return this.dtypeOf(this.outputTensors[index]?.type ?? 0);
  }

  /** The dtype of a code. Throws FormatError or UnsupportedError. */
  dtypeOf(code: number): DType {
    return dtypeOf(code, this.where);
  }

  /** A constant of rank 0, of the dtype of another value. */
  like(x: Expr, value: number): Expr {
    return this.cast(this.scalar(value), this.type(x).dtype);
  }
}

/** The dtype of an element type's code. Throws FormatError for none, UnsupportedError for one that Weft lacks. */
export function dtypeOf(code: number, where: string): DType {
  const entry = TENSOR_TYPES[code];
  if (entry === undefined) {
    throw new FormatError({ where, got: `element type ${code}`, expected: 'one of the schema' });
  }
  const [name, dtype] = entry;
  if (dtype !== undefined) return dtype;
  const expected = 'a float, an integer, or bool';
  throw new UnsupportedError({ where, got: `element type ${name}`, expected });
}

/** The tensor with its axes in another order. */
function transposed(value: HostTensor, perm: readonly number[]): HostTensor {
  const { dtype } = value;
  const shape = perm.map((axis) => value.shape[axis] ?? 1);
  if (value.isSplat) return new HostTensor(dtype, shape, value.elements, true);
  reserveTensorMemory(value.byteLength);
  const { elements } = value;
  const strides = value.shape.map((_, i) =>
    value.shape.slice(i + 1).reduce((product, size) => product * size, 1),
  );
  const steps = perm.map((axis) => strides[axis] ?? 1);
  const result = new (dtypeInfo(dtype).array)(elements.length);
  const inner = shape.at(-1) ?? 1;
  const innerStep = steps.at(-1) ?? 1;
  const at = shape.map(() => 0);
  for (let to = 0, from = 0; to < elements.length; ) {
    for (let i = 0; i < inner; i++) result[to++] = elements[from + i * innerStep] ?? 0;
    for (let axis = shape.length - 2; axis >= 0; axis--) {
      from += steps[axis] ?? 0;
      at[axis] = (at[axis] ?? 0) + 1;
      if ((at[axis] ?? 0) < (shape[axis] ?? 1)) break;
      from -= (steps[axis] ?? 0) * (shape[axis] ?? 1);
      at[axis] = 0;
    }
  }
  return new HostTensor(dtype, shape, result);
}
