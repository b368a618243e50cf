export type { DType, TypedArray } from '../core/dtype.ts';
export {
  DeviceError,
  DeviceLostError,
  DownloadError,
  FormatError,
  OutOfMemoryError,
  ParseError,
  RuntimeError,
  ShapeError,
  TypeCheckError,
  UnsupportedError,
  UsageError,
  VerifyError,
  WeftError,
  WorkerError,
} from '../core/errors.ts';
export type {
  Dispatch,
  KernelProfile,
  LoadProgress,
  SessionDevice,
  SessionMemory,
  SizeIntervals,
  ValueInfo,
} from '../worker/protocol.ts';
export { DeviceTensor } from './device-tensor.ts';
export type { ImageInput, Inputs, InputValue } from './input-value.ts';
export {
  type LoadOptions,
  type Profile,
  type RunOptions,
  Session,
} from './session.ts';
export type { SessionSource } from './source.ts';
export { type NestedArray, Tensor } from './tensor.ts';
export type { AdtOutput, OutputValue } from './wire-values.ts';
