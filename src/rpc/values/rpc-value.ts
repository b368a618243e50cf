import type { DType } from '../../core/tensor/dtype.ts';
import { UsageError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { Shape } from '../../core/tensor/shape.ts';
import type { ValueSide } from '../../core/contracts/value-fold.ts';
import { DTypeValue, FloatValue, ShapeValue } from '../../runtime/values/value.ts';

/** Values that are the same in every machine and page. */
type PlainValue = null | number | string | FloatValue | DTypeValue | ShapeValue;

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

/** The form in which each kind of value crosses a connection; `never`: it stays in its machine. */
export interface RpcForms {
  readonly null: null;
  readonly int: number;
  /** A number where it is no safe integer. */
  readonly float: FloatValue | number;
  readonly string: string;
  readonly dtype: DTypeValue;
  readonly shape: ShapeValue;
  readonly tensor: HostTensor;
  readonly handle: TensorHandle;
  readonly adt: RpcTuple;
  readonly closure: never;
  /** Closures too: who calls it cannot tell. */
  readonly packed: RpcFunction;
  readonly opaque: never;
  readonly storage: never;
  readonly heap: never;
  readonly vm: never;
}

/**
 * A value on its way through a connection. A number is an int where it is a safe integer; floats are FloatValue in
 * results. Tensors go by value, or stay where they are and are named.
 */
export type RpcValue = PlainValue | HostTensor | TensorHandle | RpcTuple | RpcFunction;

/** Throws UsageError for what is no value. */
export const RPC_SIDE: ValueSide<RpcForms> = {
  kindOf: (value) => {
    if (value === null) return 'null';
    if (typeof value === 'string') return 'string';
    if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int' : 'float';
    if (typeof value === 'function') return 'packed';
    if (value instanceof HostTensor) return 'tensor';
    if (value instanceof RpcTuple) return 'adt';
    if (value instanceof FloatValue || value instanceof DTypeValue) return value.kind;
    if (value instanceof ShapeValue) return value.kind;
    if (value?.kind === 'tensor handle') return 'handle';
    throw new UsageError({
      where: 'remote call',
      got: `a ${Object.prototype.toString.call(value).slice(8, -1)}`,
      expected: 'a number, string, shape, tensor, function, handle, or an array of these',
    });
  },
  partsOf: (value) => (value instanceof RpcTuple ? value.fields : undefined),
};

/** Tells a value from plain data, which only methods of a connection and functions of sessions take. */
export function isRpcValue(data: unknown): data is RpcValue {
  if (data === null) return true;
  if (typeof data !== 'object') return ['number', 'string', 'function'].includes(typeof data);
  return !Array.isArray(data) && !ArrayBuffer.isView(data) && !isRecord(data);
}

/** Tells plain objects from those of classes. */
export function isRecord(data: unknown): data is Readonly<Record<string, unknown>> {
  if (typeof data !== 'object' || data === null) return false;
  const prototype: unknown = Object.getPrototypeOf(data);
  return prototype === Object.prototype || prototype === null;
}

/** A value, or JavaScript in its place: another number is a float, an array a tuple. */
export type RpcInput = RpcValue | undefined | void | boolean | readonly RpcInput[];

/** A tensor that stays where it is. */
export interface TensorHandle {
  /** Tells values apart. */
  readonly kind: 'tensor handle';
  readonly dtype: DType;
  readonly shape: Shape;
}

export interface CallContext {
  readonly signal: AbortSignal;
  /** Leaves tensors of the result on the callee's device, and returns handles. */
  readonly keep: boolean;
  /** `drop` frees what only the result names; it is called where the result cannot be sent. */
  readonly ifUnsent?: (drop: () => void) => void;
}

/** A function as the protocol calls it. */
export interface RpcTarget {
  readonly name: string;
  /**
   * True if nobody else holds the tensors of its results, so that their memory may be handed over.
   */
  readonly ownsResults: boolean;
  /** Takes and gives values, or plain data; nothing in `args` has been checked. See {@link encodeValues}. */
  call(args: readonly unknown[], context: CallContext): Promise<unknown>;
  /** Called when the other side holds it no more. */
  release(): void;
}
