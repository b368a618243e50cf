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
  KernelProfile,
  LoadProgress,
  SessionDevice,
  SessionMemory,
} from '../worker/protocol.ts';
export type { Inputs, InputValue } from './bind-inputs.ts';
export { DeviceTensor } from './device-tensor.ts';
export type { ImageInput } from './image-input.ts';
export {
  type AdtOutput,
  type LoadOptions,
  type OutputValue,
  type Profile,
  type RunOptions,
  Session,
  type ValueInfo,
} from './session.ts';
export type { SessionSource } from './source.ts';
export { type NestedArray, Tensor } from './tensor.ts';
