import type { NodeProto } from '../onnx/protobuf/schema.ts';

/** A node whose weights were rounded. */
export interface QuantizedLayer {
  /** The name of the node, or of its first output where it has none. */
  readonly node: string;
  /** Its first output, of which the result of the model has the same name. */
  readonly output: string;
  /** Its operator in the float model, such as `MatMul`. */
  readonly operator: string;
  /** What it became, in words. */
  readonly becomes: string;
  /** The root mean square of how far its weights were moved, relative to that of the weights. */
  readonly weightError: number;
  /** Whether it lies in the body of a loop or a branch, whose values no output of the model can show. */
  readonly isInner: boolean;
}

/** A node with float weights that stay as they were. */
export interface KeptNode {
  /** The name of the node, or of its first output where it has none. */
  readonly node: string;
  /** Its operator. */
  readonly operator: string;
  /** Why they stay. */
  readonly reason: string;
}

export const nodeName = ({ name, output }: NodeProto): string =>
  name === undefined || name === '' ? (output.find((each) => each !== '') ?? '') : name;
