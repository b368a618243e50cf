import type { Expr } from '../../compiler/ir/expr.ts';
import type { Dim } from '../../core/dims/dim.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { NodeAttributes } from '../onnx/attributes.ts';
import { ImportNode, type ImportNodeOptions } from '../onnx/import-node.ts';
import { IMPORTERS } from '../onnx/operators/index.ts';
import { OPSET } from './node-protos.ts';
import { attributeOf, nodeOf, type OnnxAttribute } from './protos.ts';

/** What a node of TensorFlow becomes: a value for each of its outputs. */
export type TensorflowImporter = (node: TensorflowNode) => Expr | readonly (Expr | undefined)[];

/** An importer, and the names of the core operators that it makes. */
export interface TensorflowOperator {
  readonly makes: string;
  readonly import: TensorflowImporter;
}

export type TensorflowOperators = Readonly<Record<string, TensorflowOperator>>;

/** A row of a table of operators. */
export const becomes = (makes: string, importNode: TensorflowImporter): TensorflowOperator => ({
  makes,
  import: importNode,
});

type Attributes = Readonly<Record<string, OnnxAttribute>>;

function optionsOf(node: ImportNode): ImportNodeOptions {
  const { opType, where, span, opset, attributes, inputs, outputCount } = node;
  const { context, block, subgraph } = node;
  const { types, shapeValues } = context;
  const own = { opType, where, span, opset, attributes, inputs, outputCount };
  return { ...own, types, shapeValues, context, block, subgraph };
}

/** A node of a TensorFlow graph, as an importer function sees it. */
export class TensorflowNode extends ImportNode {
  constructor(node: ImportNode) {
    super(optionsOf(node));
  }

  /** What an operator of ONNX gives for inputs. */
  onnx(
    opType: string,
    inputs: readonly (Expr | undefined)[],
    given: Attributes = {},
    outputCount = 1,
  ): readonly (Expr | undefined)[] {
    const importNode = IMPORTERS.get('')?.get(opType)?.import;
    if (importNode === undefined) throw new Error(`internal: no operator ${opType}`);
    const attribute = Object.entries(given).map(([name, value]) => attributeOf(name, value));
    const proto = nodeOf({ opType, input: [], output: [], attribute });
    const attributes = new NodeAttributes(proto, this.where);
    const own = { opType, opset: OPSET, attributes, inputs, outputCount };
    const results = importNode(new ImportNode({ ...optionsOf(this), ...own }));
    if ('kind' in results) return [results];
    if ('exits' in results) throw this.unsupported('ranks that depend on values', 'known ranks');
    return results;
  }

  /** {@link onnx} of an operator with one output. */
  one(opType: string, inputs: readonly (Expr | undefined)[], attributes: Attributes = {}): Expr {
    const [result] = this.onnx(opType, inputs, attributes);
    if (result === undefined) throw new Error(`internal: ${opType} gives nothing`);
    return result;
  }

  cast(x: Expr, to: DType): Expr {
    return this.type(x).dtype === to ? x : this.call('cast', [x], { to });
  }

  /** An input of integers as ONNX wants them: a vector of int64. */
  longs(index: number): Expr {
    return this.asLongs(this.input(index));
  }

  asLongs(x: Expr): Expr {
    const cast = this.cast(x, 'int64');
    return this.shape(cast).length === 0 ? this.one('Reshape', [cast, this.int64s([1])]) : cast;
  }

  /** Values of one dtype: float32 before int32 before bool, as TensorFlow.js has it. */
  matched(...values: readonly Expr[]): Expr[] {
    const given = values.map((x) => this.type(x).dtype);
    const to = (['float32', 'int32'] as const).find((dtype) => given.includes(dtype));
    return values.map((x) => (to === undefined ? x : this.cast(x, to)));
  }

  /** False for a list that is a sequence. */
  isTensor(x: Expr): boolean {
    return this.composite(x) === undefined && this.context.types.of(x).kind === 'tensor';
  }

  rank(x: Expr): number {
    return this.shape(x).length;
  }

  /** An axis from 0 up. Throws FormatError for one that the tensor does not have. */
  axis(axis: number, rank: number): number {
    if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
    throw this.malformed(`axis ${axis}`, `one of ${rank} axes`);
  }

  /** Axes of a constant input, from 0 up. */
  axesInput(index: number, rank: number): number[] {
    const axes = this.intsInput(index, 'axes') ?? [];
    return [...new Set(axes.map((axis) => this.axis(axis, rank)))];
  }

  transpose(x: Expr, perm: readonly number[]): Expr {
    return this.call('transpose', [x], { perm });
  }

  /** True if channels are the second axis, by the attribute `data_format`. */
  get hasChannelsFirst(): boolean {
    const format = this.attributes.string('data_format', 'NHWC');
    if (format === 'NHWC' || format === 'NCHW') return format === 'NCHW';
    throw this.unsupported(`data_format ${format}`, 'NHWC or NCHW');
  }

  /** A picture as kernels want it, with its channels as the second axis. */
  channelsSecond(x: Expr, isFirst: boolean): Expr {
    if (this.rank(x) !== 4) throw this.malformed(`an input of ${this.rank(x)} axes`, '4');
    return isFirst ? x : this.transpose(x, [0, 3, 1, 2]);
  }

  /** A picture as the graph has it. */
  asGiven(x: Expr, isFirst: boolean): Expr {
    return isFirst ? x : this.transpose(x, [0, 2, 3, 1]);
  }

  /** Dimensions as a vector of int64, for operators of ONNX. */
  sizes(dims: readonly Dim[]): Expr {
    const numbers = dims.filter((dim) => typeof dim === 'number');
    if (numbers.length === dims.length) return this.int64s(numbers);
    return this.call('dims_tensor', [], { dims });
  }
}
