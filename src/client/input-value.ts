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

/** The argument of `run` for one input. Plain numbers are for int and float parameters. */
export type InputValue = Tensor | DeviceTensor | ImageInput | number | string;
/** Inputs of a run, by name. */
export type Inputs = Readonly<Record<string, InputValue>>;
/** Inputs whose pictures have become tensors. */
export type PlainInputs = Readonly<Record<string, BoundValue>>;
export type BoundValue = Tensor | DeviceTensor | number | string;

export function isPlain(value: InputValue): value is BoundValue {
  return typeof value !== 'object' || value instanceof Tensor || value instanceof DeviceTensor;
}

export function arePlain(inputs: Inputs): inputs is PlainInputs {
  return Object.values(inputs).every(isPlain);
}
