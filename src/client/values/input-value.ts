import type { CallPage, WireValue } from '../../worker/protocol/wire-value.ts';
import { DeviceTensor } from './device-tensor.ts';
import type { InputValue } from './session-value.ts';
import { Tensor } from './tensor.ts';

/** Inputs of a run, by name. */
export type Inputs = Readonly<Record<string, InputValue>>;
/** Inputs whose pictures have become tensors. */
export type PlainInputs = Readonly<Record<string, BoundValue>>;
export type BoundValue = Tensor | DeviceTensor | WiredValue | number | string;

/** A tuple or data, as it goes to the worker. */
export interface WiredValue {
  readonly wire: WireValue;
  readonly callPage?: CallPage | undefined;
}

export function isPlain(value: InputValue): value is Exclude<BoundValue, WiredValue> {
  return !/^[of]/.test(typeof value) || value instanceof Tensor || value instanceof DeviceTensor;
}

export function arePlain(
  inputs: Inputs,
): inputs is Readonly<Record<string, Exclude<BoundValue, WiredValue>>> {
  return Object.values(inputs).every(isPlain);
}
