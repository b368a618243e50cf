import type { HostTensor } from '../core/host-tensor.ts';
import type { DType } from '../core/dtype.ts';
import type { Shape } from '../core/shape.ts';
import { DTypeValue, FloatValue, ShapeValue } from '../runtime/value.ts';

/** Values that are the same in every machine and page. */
export type PlainValue = null | number | string | FloatValue | DTypeValue | ShapeValue;

export function isPlainValue(value: unknown): value is PlainValue {
  if (value === null || typeof value === 'number' || typeof value === 'string') return true;
  return value instanceof FloatValue || value instanceof DTypeValue || value instanceof ShapeValue;
}

/** A constructor tag with fields; a tuple has tag 0. */
export class RpcTuple {
  /** Which constructor made it; 0 for a tuple. */
  readonly tag: number;
  /** Its fields, in order. */
  readonly fields: readonly RpcValue[];

  constructor(fields: readonly RpcValue[], tag = 0) {
    this.fields = fields;
    this.tag = tag;
  }
}

/** A function of this side, or a {@link RemoteFunction}. */
export type RpcFunction = (...args: RpcValue[]) => RpcInput | Promise<RpcInput>;

/**
 * What crosses a session. A number is an int where it is a safe integer; floats are FloatValue in
 * results. Tensors go by value, or stay where they are and are named.
 */
export type RpcValue = PlainValue | HostTensor | TensorHandle | RpcTuple | RpcFunction;

/** What may be given in place of a value: another number is a float, an array a tuple. */
export type RpcInput = RpcValue | undefined | void | boolean | readonly RpcInput[];

/** A tensor that stays where it is. */
export interface TensorHandle {
  /** Tells values apart. */
  readonly kind: 'tensor handle';
  /** The dtype of its elements. */
  readonly dtype: DType;
  /** Its dimensions. */
  readonly shape: Shape;
}

export interface CallContext {
  readonly signal: AbortSignal;
  /** Whether tensors of the result stay with the callee. */
  readonly keep: boolean;
}

/** A function as the protocol calls it. */
export interface RpcTarget {
  readonly name: string;
  /** Whether nobody else has the tensors of its results. */
  readonly ownsResults: boolean;
  call(args: readonly RpcValue[], context: CallContext): Promise<RpcValue>;
  /** Called when the other side holds it no more. */
  release(): void;
}
