import type { Dim } from '../dims/dim.ts';
import type { DType } from '../tensor/dtype.ts';

/** An operator attribute. Lists are homogeneous. */
export type AttributeValue =
  | number
  | string
  | boolean
  | readonly number[]
  | readonly string[]
  | readonly Dim[];

export type Attributes = Readonly<Record<string, AttributeValue>>;

/** The type of a tensor whose dimensions are of type `D`: numbers, or symbols too. */
export interface TensorTypeOf<D extends Dim> {
  readonly dtype: DType;
  /** Its dimensions, the outermost first. */
  readonly shape: readonly D[];
}

/** The type of a tensor whose dimensions may be symbolic. */
export type TensorType = TensorTypeOf<Dim>;

export type ConcreteTensorType = TensorTypeOf<number>;

/** One call of an operator inside a primitive function. It yields one value. */
export interface OperatorCall {
  /** Name of the operator in `ops/`. */
  readonly op: string;
  /** Values it reads: parameters come first, then the calls in order. -1: an absent optional input. */
  readonly inputs: readonly number[];
  readonly attributes: Attributes;
}

/**
 * A fused group of operators that a device compiles to one kernel or a few (Relay's `Primitive`
 * function), as plain data that names no shader. Called in destination-passing style: the tensors
 * of `params`, then one preallocated tensor for each of `results`. One whose result has an unknown
 * dimension (`?`) is called with the tensors of `params` only and gives the result.
 *
 * Value `i` is parameter `i` for `i < params.length`, else the result of `body[i - params.length]`.
 */
export interface PrimitiveFunction {
  /** Unique among the primitive functions of a program. */
  readonly name: string;
  /** Types of the tensors that it reads. */
  readonly params: readonly TensorType[];
  /** Calls of operators, each after those whose results it reads. */
  readonly body: readonly OperatorCall[];
  /** Values that are results, with their types, in the order of the destination arguments. */
  readonly results: readonly PrimitiveResult[];
  /** Runs on the host whatever device the session is on; its tensors lie there. */
  readonly device?: 'host';
  /**
   * The parameter in whose memory its one result may lie: each element of it is read where that of the result is
   * written, and at no other place. Both have the same type.
   */
  readonly inPlace?: number;
}

/** A value that a primitive function gives. */
interface PrimitiveResult {
  readonly value: number;
  readonly type: TensorType;
}
