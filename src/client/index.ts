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
export type { CodePlace, PausedCall, PauseOptions } from '../core/paused-call.ts';
export type {
  Dispatch,
  KernelProfile,
  KernelTuning,
  LoadProgress,
  SessionDevice,
  SessionMemory,
  SharingCounters,
  SizeIntervals,
  TriedVariant,
  ValueInfo,
} from '../worker/protocol.ts';
export { configureWorker, type WorkerOptions } from './configure-worker.ts';
export { DeviceTensor } from './device-tensor.ts';
export type { ImageInput, Inputs, InputValue } from './input-value.ts';
export {
  type LoadOptions,
  type Profile,
  type ResumeOptions,
  type RunOptions,
  Session,
} from './session.ts';
export type { Checkpoints } from './snapshots/checkpoints.ts';
export type {
  CheckpointOptions,
  ResumedRun,
  ResumedState,
  ResultOptions,
  SnapshotContents,
  SnapshotOptions,
} from './snapshots/control-options.ts';
export { openSnapshotStore, opfsStore } from './snapshots/snapshot-store.ts';
export type { SnapshotFiles, SnapshotStore } from './snapshots/store-types.ts';
export type { SessionSource } from './source.ts';
export { type NestedArray, Tensor } from './tensor.ts';
export type { TuneOptions, TuneProgress, TuningReport } from './tune-session.ts';
export type { AdtOutput, OutputValue } from './wire-values.ts';
