import type { DISPOSE } from '../../core/async/dispose-symbols.ts';
import type { OpaqueValue } from '../../core/contracts/opaque-value.ts';
import type { DeviceTensor } from './device-tensor.ts';
import type { Tensor } from './tensor.ts';

// Inputs, results and functions are made of each other, so their types are in one file.

/** Pictures that `run` takes for an input. */
export type ImageInput =
  | ImageData
  | ImageBitmap
  | HTMLCanvasElement
  | OffscreenCanvas
  | HTMLImageElement
  | HTMLVideoElement
  | VideoFrame;

/** A value of an algebraic data type of the program: `{ constructor: 'Cons', fields: [head, tail] }`. */
export interface DataInput {
  readonly constructor: string;
  /** Its fields, in order. */
  readonly fields: readonly InputValue[];
}

/** A function of the page for the program to call, or one that the program gave. */
export type FunctionInput = SessionFunction | ProgramFunction;

/**
 * The argument of `run` for one input. Plain numbers are for int and float parameters, arrays for tuples, an
 * OpaqueValue for a parameter `Opaque[name]` of its name.
 */
export type InputValue =
  | FunctionInput
  | Tensor
  | DeviceTensor
  | ImageInput
  | DataInput
  | OpaqueValue
  | readonly InputValue[]
  | number
  | string;
/** Other results than tensors and numbers. A tuple has tag 0. */
export interface AdtOutput {
  /** Which constructor of the type made it; 0 for a tuple. Of files that tell no names. */
  readonly tag: number;
  /** Its fields, in order. */
  readonly fields: readonly OutputValue[];
}

/** A value of an algebraic data type. */
export interface DataOutput {
  readonly constructor: string;
  /** Its fields, in order. */
  readonly fields: readonly OutputValue[];
}

/** Everything that a function can return. Those of ONNX models return tensors only. */
export type OutputValue =
  | Tensor
  | DeviceTensor
  | AdtOutput
  | ProgramFunction
  | DataOutput
  | OpaqueValue
  | readonly OutputValue[]
  | number
  | string
  | null;

/** Results that a function may return to a program: nothing where the program declares `()`. */
export type FunctionResult =
  | Exclude<InputValue, DeviceTensor>
  | boolean
  | DataInput
  | readonly FunctionResult[]
  | undefined
  | void;

/**
 * A function of the page that a program calls by name. Tensors come and go as {@link Tensor}, tuples as
 * arrays, data as `{ constructor, fields }`.
 */
export type SessionFunction = {
  call(...args: OutputValue[]): FunctionResult | Promise<FunctionResult>;
}['call'];

/**
 * A result that is a function of the program: `await f(x)` calls it, where it was made. It holds what it
 * captured until it is disposed of, or the session is. One that a function of the page was given ends with that call, unless it
 * is kept, or is part of what the call gives.
 */
export interface ProgramFunction {
  /** Arguments and the result are those of `run`. Rejects with UsageError after {@link dispose}, and as `run` does. */
  (...args: readonly (InputValue | FunctionInput)[]): Promise<OutputValue>;
  /** Keeps one that a function of the page was given beyond that call, until {@link dispose}; gives itself. */
  keep(): ProgramFunction;
  /** Frees what it holds, after calls that already use it. Idempotent. */
  dispose(): void;
  /** Calls {@link dispose} at the end of a block with `using`. */
  [DISPOSE](): void;
}
