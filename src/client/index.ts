export type { DType, TypedArray } from '../core/tensor/dtype.ts';
export {
  CompileLimitError,
  DeviceError,
  DeviceLostError,
  DownloadError,
  FormatError,
  OutOfMemoryError,
  ParseError,
  RuntimeError,
  ShapeError,
  StorageError,
  TypeCheckError,
  UnsupportedError,
  UsageError,
  VerifyError,
  WeftError,
  WorkerError,
} from '../core/errors.ts';
export { OpaqueValue } from '../core/contracts/opaque-value.ts';
export type { PausedCall, PauseOptions } from '../core/contracts/paused-call.ts';
export type { KernelSource } from '../core/contracts/kernel-source.ts';
export type { RunTimelines } from '../core/contracts/run-timeline.ts';
export type { LoadProgress } from '../worker/protocol/load-request.ts';
export type { SessionDevice, ValueInfo } from '../worker/protocol/loaded-session.ts';
export type { KernelProfile } from '../worker/protocol/run-request.ts';
export type { SessionMemory } from '../worker/protocol/session-memory.ts';
export { configureWorker, type WorkerOptions } from './start/configure-worker.ts';
export { DeviceTensor } from './values/device-tensor.ts';
export type { GpuTensor } from './values/gpu-buffers.ts';
export type { Inputs } from './values/input-value.ts';
export { type Profile, Session } from './session.ts';
export type { LoadOptions, ResumeOptions, RunOptions } from './session-options.ts';
export type { Checkpoints } from './snapshots/checkpoints.ts';
export type {
  CheckpointOptions,
  ResumedState,
  SnapshotContents,
  SnapshotOptions,
} from './snapshots/control-options.ts';
export type { ModelCache } from '../downloads/model-cache.ts';
export { modelCache } from './model-cache.ts';
export { openSnapshotStore, opfsStore } from './snapshots/snapshot-store.ts';
export type { SnapshotFiles, SnapshotStore } from '../snapshots/store-types.ts';
export type { SessionSource } from './source.ts';
export { type NestedArray, Tensor } from './values/tensor.ts';
export type { TuneOptions, TuningReport } from './tools/tune-session.ts';
export type { CompareOptions, SessionComparison } from './tools/compare-session.ts';
export type { DebugOptions, DebugRun } from './tools/debug-session.ts';
export type { TimelineOptions } from './tools/timeline-session.ts';
export type { TracedValue, TraceOptions } from './tools/trace-session.ts';
export type { OverflowOptions, OverflowReport, VerifyOptions } from './tools/verify-session.ts';
export type { InputValue, OutputValue, ProgramFunction } from './values/session-value.ts';
