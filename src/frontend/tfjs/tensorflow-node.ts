import type { Expr } from '../../compiler/ir/expr.ts';
import type { Dim } from '../../core/dims/dim.ts';
import { ForeignNode } from '../foreign/foreign-node.ts';
import type { ImportNode, ImportNodeOptions } from '../onnx/import-node.ts';

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

function optionsOf(node: ImportNode): ImportNodeOptions {
  const { opType, where, span, opset, attributes, inputs, outputCount } = node;
  const { context, block, subgraph } = node;
  const { types, shapeValues } = context;
  const own = { opType, where, span, opset, attributes, inputs, outputCount };
  return { ...own, types, shapeValues, context, block, subgraph };
}

/** A node of a TensorFlow graph, as an importer function sees it. */
export class TensorflowNode extends ForeignNode {
  constructor(node: ImportNode) {
    super(optionsOf(node));
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
