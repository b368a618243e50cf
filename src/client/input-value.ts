import type { WireValue } from '../worker/protocol.ts';
import { DeviceTensor } from './device-tensor.ts';
import { Tensor } from './tensor.ts';

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
  /** The name of the constructor. */
  readonly constructor: string;
  /** Its fields, in order. */
  readonly fields: readonly InputValue[];
}

/**
 * The argument of `run` for one input. Plain numbers are for int and float parameters, arrays for tuples.
 */
export type InputValue =
  | Tensor
  | DeviceTensor
  | ImageInput
  | DataInput
  | readonly InputValue[]
  | number
  | string;
/** Inputs of a run, by name. */
export type Inputs = Readonly<Record<string, InputValue>>;
/** Inputs whose pictures have become tensors. */
export type PlainInputs = Readonly<Record<string, BoundValue>>;
export type BoundValue = Tensor | DeviceTensor | WiredValue | number | string;

/** A tuple or data, as it goes to the worker. */
export interface WiredValue {
  readonly wire: WireValue;
}

export function isPlain(value: InputValue): value is Exclude<BoundValue, WiredValue> {
  return typeof value !== 'object' || value instanceof Tensor || value instanceof DeviceTensor;
}

export function arePlain(
  inputs: Inputs,
): inputs is Readonly<Record<string, Exclude<BoundValue, WiredValue>>> {
  return Object.values(inputs).every(isPlain);
}
