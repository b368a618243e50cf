import type { DType } from '../tensor/dtype.ts';
import type { HostTensor } from '../tensor/host-tensor.ts';

/** An attribute of a node. An integer beyond 2^53 is the nearest number that is safe. */
export type NodeAttributeValue =
  | number
  | string
  | readonly number[]
  | readonly string[]
  | HostTensor;

export type NodeAttributes = Readonly<Record<string, NodeAttributeValue>>;

/** The type of an input or an output of a node. */
export interface NodeTensor {
  readonly dtype: DType;
  /** A dimension is a number, a name or an expression over names; `?`: only the running program knows it. */
  readonly shape: readonly (number | string)[];
}

/** A node, as the function sees it that tells its type. */
export interface NodeSignature {
  /** The domain and the name of its operator: `my.domain::Op`. */
  readonly operator: string;
  /** `node "name" (my.domain.Op)`, for messages. */
  readonly where: string;
  /** The types of its inputs; undefined for one that it leaves out. */
  readonly inputs: readonly (NodeTensor | undefined)[];
  readonly attributes: NodeAttributes;
  readonly outputCount: number;
}

/** The type of an output: `Tensor[(n, 4), float32]`, or the same as data. */
export type NodeOutput = string | NodeTensor;

/**
 * The type of nodes of an operator: one for all, `fn (Tensor[(n,), float32]) -> Tensor[(n,), float32]`, or a
 * function from a node to the types of its outputs. More than one output are a tuple, or an array.
 */
export type NodeType = string | ((node: NodeSignature) => NodeOutput | readonly NodeOutput[]);

/** The types of functions that compute nodes of a model, by operators: `my.domain::Op`. */
export type NodeTypes = Readonly<Record<string, { readonly type?: NodeType | undefined }>>;
