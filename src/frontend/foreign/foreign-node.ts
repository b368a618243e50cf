import type { Expr } from '../../compiler/ir/expr.ts';
import type { DType } from '../../core/tensor/dtype.ts';
import { NodeAttributes } from '../onnx/attributes.ts';
import { ImportNode, type ImportNodeOptions } from '../onnx/import-node.ts';
import { IMPORTERS } from '../onnx/operators/index.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { attributeOf, type OnnxAttribute, OPSET } from './onnx-attribute.ts';

type Attributes = Readonly<Record<string, OnnxAttribute>>;

/** A node of another format than ONNX, whose importers call operators of ONNX. */
export class ForeignNode extends ImportNode {
  readonly #options: ImportNodeOptions;

  constructor(options: ImportNodeOptions) {
    super(options);
    this.#options = options;
  }

  /** What an operator of ONNX gives for inputs. Throws UnsupportedError where it splits the program. */
  onnx(
    opType: string,
    inputs: readonly (Expr | undefined)[],
    given: Attributes = {},
    outputCount = 1,
  ): readonly (Expr | undefined)[] {
    const importNode = IMPORTERS.get('')?.get(opType)?.import;
    if (importNode === undefined) throw new Error(`internal: no operator ${opType}`);
    const attribute = Object.entries(given).map(([name, value]) => attributeOf(name, value));
    const proto = { ...readMessage('NodeProto', new Uint8Array()), attribute };
    const attributes = new NodeAttributes(proto, this.where);
    const own = { opType, opset: OPSET, attributes, inputs, outputCount };
    const results = importNode(new ImportNode({ ...this.#options, ...own }));
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

  /** The axes in another order. */
  transpose(x: Expr, perm: readonly number[]): Expr {
    return this.call('transpose', [x], { perm });
  }

  /** A value as another dtype. */
  cast(x: Expr, to: DType): Expr {
    return this.type(x).dtype === to ? x : this.call('cast', [x], { to });
  }

  /** An input of integers as operators of ONNX want them. */
  longs(index: number): Expr {
    return this.asLongs(this.input(index));
  }

  /** Integers as a vector of int64. */
  asLongs(x: Expr): Expr {
    const cast = this.cast(x, 'int64');
    return this.rank(cast) === 0 ? this.reshape(cast, [1]) : cast;
  }

  rank(x: Expr): number {
    return this.shape(x).length;
  }

  /** Axes of a constant input, from 0 up, each once. */
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
