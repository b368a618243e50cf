export type { CompileLimits } from '../core/limits/compile-limits.ts';
export type { CompileMode, CompileModeOption } from '../core/contracts/compile-mode.ts';
export type { Precision, PrecisionOption } from '../core/contracts/precision.ts';
export type { DeviceRates, LaunchAmount } from '../core/contracts/device-rates.ts';
export type { DType, TypedArray } from '../core/tensor/dtype.ts';
export {
  CompileLimitError,
  type Complaint,
  DeviceError,
  DeviceLostError,
  DownloadError,
  type ErrorDetail,
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
  type WeftErrorOptions,
  WorkerError,
} from '../core/errors.ts';
export type {
  GpuBufferLike,
  GpuDeviceLike,
  GpuLike,
  PageGpuBuffer,
} from '../core/contracts/gpu-like.ts';
export { OpaqueValue } from '../core/contracts/opaque-value.ts';
export type { CodePlace, PausedCall, PauseOptions } from '../core/contracts/paused-call.ts';
export type { Shape } from '../core/tensor/shape.ts';
export type { KernelPart, KernelSource } from '../core/contracts/kernel-source.ts';
export type { MachineLimits, ProgramLimits } from '../core/limits/program-limits.ts';
export type {
  TimelineEvent,
  TimelineKind,
  TimelineStorage,
  RunTimeline,
  RunTimelines,
} from '../core/contracts/run-timeline.ts';
export type {
  GpuRange,
  KernelTuning,
  OperatorDeparture,
  RunComparison,
  TracedPlace,
  ValueDeparture,
  ValueRange,
  TriedVariant,
} from '../worker/protocol/control-request.ts';
export type {
  Breakpoint,
  DebugDetail,
  DebugFrame,
  DebugMemory,
  DebugStop,
  DebugStorage,
  DebugValue,
  FoundOutput,
  SetBreakpoint,
  StopReason,
  StorageUse,
  TensorDetail,
  TensorPicture,
  TensorStatistics,
} from '../worker/protocol/debug-order.ts';
export type {
  Dims,
  Dispatch,
  InputDispatch,
  SizeIntervals,
} from '../worker/protocol/dispatch-sizes.ts';
export type { LoadProgress } from '../worker/protocol/load-request.ts';
export type {
  DeviceKind,
  Placement,
  SessionDevice,
  ValueInfo,
} from '../worker/protocol/loaded-session.ts';
export type { KernelProfile } from '../worker/protocol/run-request.ts';
export type { SessionMemory, SharingCounters } from '../worker/protocol/session-memory.ts';
export type { SessionProvider } from '../worker/protocol/session-service.ts';
export { configureWorker, type WorkerOptions } from './start/configure-worker.ts';
export { DeviceTensor } from './values/device-tensor.ts';
export type { GpuTensor } from './values/gpu-buffers.ts';
export type { Inputs } from './values/input-value.ts';
export { type Profile, Session } from './session.ts';
export type { LoadOptions, ResumeOptions, RunOptions } from './session-options.ts';
export type { Checkpoints } from './snapshots/checkpoints.ts';
export type {
  CheckpointOptions,
  ResumedRun,
  ResumedState,
  ResultOptions,
  SnapshotContents,
  SnapshotOptions,
} from './snapshots/control-options.ts';
export type { CachedFile, ModelCache } from '../downloads/model-cache.ts';
export { modelCache } from './model-cache.ts';
export { openSnapshotStore, opfsStore } from './snapshots/snapshot-store.ts';
export type { SnapshotFiles, SnapshotStore } from '../snapshots/store-types.ts';
export type { ExternalData, SessionSource } from './source.ts';
export { type NestedArray, Tensor } from './values/tensor.ts';
export type { TuneOptions, TuneProgress, TuningReport } from './tools/tune-session.ts';
export type { CompareOptions, SessionComparison } from './tools/compare-session.ts';
export type { ExpectedValues } from './tools/compare-values.ts';
export type {
  DebugOptions,
  DebugPlace,
  DebugRun,
  OrderOptions,
  RegisterPlace,
} from './tools/debug-session.ts';
export type { TimelineOptions } from './tools/timeline-session.ts';
export type { TracedSession, TracedValue, TraceOptions } from './tools/trace-session.ts';
export type { OverflowOptions, OverflowReport, VerifyOptions } from './tools/verify-session.ts';
export type {
  SessionFunctions,
  SessionNodeAttribute,
  SessionNodeAttributes,
  SessionNodeFunction,
  SessionNodeSignature,
} from './session-functions.ts';
export type {
  AdtOutput,
  DataInput,
  DataOutput,
  FunctionInput,
  FunctionResult,
  ImageInput,
  InputValue,
  OutputValue,
  ProgramFunction,
  SessionFunction,
} from './values/session-value.ts';
