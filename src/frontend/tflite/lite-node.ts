import type { Expr } from '../../compiler/ir/expr.ts';
import { isOperatorCall } from '../../compiler/ir/operators/operator-name.ts';
import { reserveTensorMemory } from '../../core/limits/work-meter.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { type DType, dtypeInfo } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { NodeAttributes } from '../onnx/attributes.ts';
import { ImportNode, type ImportNodeOptions } from '../onnx/import-node.ts';
import type { Block } from '../onnx/graph-scope.ts';
import type { ImporterTable } from '../onnx/importer-table.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import type { AttributeProto } from '../onnx/protobuf/schema.ts';
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
  readonly importers: ImporterTable;
  readonly importGraph: ImportGraph;
}

/** An attribute of an ONNX operator: an integer, a text, integers, or numbers with fractions. */
type OnnxAttribute = number | string | readonly number[] | { readonly float: number };

const NOTHING = new Uint8Array();

/** An operator of a TensorFlow Lite model, as an importer function sees it. */
export class LiteNode extends ImportNode {
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

  /** What an operator of ONNX gives for inputs. */
  onnx(
    opType: string,
    inputs: readonly (Expr | undefined)[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
    outputCount = 1,
  ): readonly (Expr | undefined)[] {
    const importNode = this.#options.importers.find('', opType);
    if (importNode === undefined) throw new Error(`internal: no operator ${opType}`);
    const attribute = Object.entries(attributes).map(([name, value]) => attributeOf(name, value));
    const proto = { ...readMessage('NodeProto', NOTHING), attribute };
    const node = new ImportNode({
      ...this.#options,
      opType,
      opset: OPSET,
      attributes: new NodeAttributes(proto, this.where),
      inputs,
      outputCount,
    });
    const results = importNode(node);
    if ('kind' in results) return [results];
    if ('exits' in results) throw new Error(`internal: ${opType} splits the program`);
    return results;
  }

  /** {@link onnx} of an operator with one output. */
  one(
    opType: string,
    inputs: readonly (Expr | undefined)[],
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): Expr {
    const [result] = this.onnx(opType, inputs, attributes);
    if (result === undefined) throw new Error(`internal: ${opType} gives nothing`);
    return result;
  }

  /** The axes in another order; of constants at once, so that no kernel moves weights. */
  transpose(x: Expr, perm: readonly number[]): Expr {
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
    return this.call('transpose', [x], { perm });
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

  /** A value as another dtype. */
  cast(x: Expr, to: DType): Expr {
    return this.type(x).dtype === to ? x : this.call('cast', [x], { to });
  }

  /** A constant of rank 0, of the dtype of another value. */
  like(x: Expr, value: number): Expr {
    return this.cast(this.scalar(value), this.type(x).dtype);
  }

  /** A constant input as int64, for operators of ONNX; one that is computed likewise. */
  longs(index: number): Expr {
    const input = this.cast(this.input(index), 'int64');
    return this.shape(input).length === 0 ? this.reshape(input, [1]) : input;
  }

  /** Axes of a constant input, from 0 up. */
  axesInput(index: number, rank: number): number[] {
    const axes = this.intsInput(index, 'axes') ?? [];
    return [...new Set(axes.map((axis) => this.axis(axis, rank)))];
  }

  /** An axis from 0 up. Throws FormatError for one that the tensor does not have. */
  axis(axis: number, rank: number): number {
    if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
    throw this.malformed(`axis ${axis}`, `one of ${rank} axes`);
  }
}

/** The operator set of what {@link LiteNode.onnx} calls. */
const OPSET = 21;

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

function attributeOf(name: string, value: OnnxAttribute): AttributeProto {
  const none = { ...readMessage('AttributeProto', NOTHING), name };
  if (typeof value === 'number') return { ...none, type: 2, i: BigInt(value) };
  if (typeof value === 'string') return { ...none, type: 3, s: new TextEncoder().encode(value) };
  if ('float' in value) return { ...none, type: 1, f: value.float };
  return { ...none, type: 7, ints: BigInt64Array.from(value, BigInt) };
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
