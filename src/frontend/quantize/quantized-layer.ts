import type { NodeProto } from '../onnx/protobuf/schema.ts';

/** A node whose weights were rounded. */
export interface QuantizedLayer {
  /** The name of the node, or of its first output where it has none. */
  readonly node: string;
  /** Its first output, of which the result of the model has the same name. */
  readonly output: string;
  /** Its operator in the float model, such as `MatMul`. */
  readonly operator: string;
  /** The node or nodes that it became, in words. */
  readonly becomes: string;
  /** The root mean square of how far its weights were moved, relative to that of the weights. */
  readonly weightError: number;
  /**
   * True if it lies in the body of a loop or a branch, whose values no output of the model can
   * show.
   */
  readonly isInner: boolean;
  /**
   * True if its weights were rounded by samples of its inputs; false where no sample reached it, as
   * in a branch that none took. Undefined without samples, and for layers of a kind that is rounded
   * without them.
   */
  readonly isSampled?: boolean | undefined;
}

/** A node with float weights that stay as they were. */
export interface KeptNode {
  /** The name of the node, or of its first output where it has none. */
  readonly node: string;
  readonly operator: string;
  /** Why the weights of the node stay as they are. */
  readonly reason: string;
}

export const nodeName = ({ name, output }: NodeProto): string =>
  name === undefined || name === '' ? (output.find((each) => each !== '') ?? '') : name;

/** A text that only this node of a model has, which lies in the graph of this path. */
export const layerKey = (node: NodeProto, { path }: { readonly path: string }): string =>
  `${path}${nodeName(node)}`;
