export type { CompileLimits } from '../core/compile-limits.ts';
export type { CompileMode, CompileModeOption } from '../core/compile-mode.ts';
export type { Precision, PrecisionOption } from '../core/precision.ts';
export type { DeviceRates, LaunchAmount } from '../core/device-rates.ts';
export type { DType, TypedArray } from '../core/dtype.ts';
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
export type { GpuBufferLike, GpuDeviceLike, GpuLike, PageGpuBuffer } from '../core/gpu-like.ts';
export { OpaqueValue } from '../core/opaque-value.ts';
export type { CodePlace, PausedCall, PauseOptions } from '../core/paused-call.ts';
export type { Shape } from '../core/shape.ts';
export type {
  Breakpoint,
  DebugDetail,
  DebugFrame,
  DebugMemory,
  DebugStop,
  DebugStorage,
  DebugValue,
  DeviceKind,
  Dims,
  Dispatch,
  FoundOutput,
  GpuRange,
  InputDispatch,
  KernelPart,
  KernelProfile,
  KernelSource,
  KernelTuning,
  LoadProgress,
  Placement,
  MachineLimits,
  ProgramLimits,
  SessionDevice,
  SessionProvider,
  SetBreakpoint,
  StopReason,
  StorageUse,
  TensorDetail,
  TensorPicture,
  TensorStatistics,
  TimelineEvent,
  TimelineKind,
  TimelineStorage,
  OperatorDeparture,
  RunComparison,
  RunTimeline,
  RunTimelines,
  SessionMemory,
  TracedPlace,
  ValueDeparture,
  ValueRange,
  SharingCounters,
  SizeIntervals,
  TriedVariant,
  ValueInfo,
} from '../worker/protocol.ts';
export { configureWorker, type WorkerOptions } from './configure-worker.ts';
export { DeviceTensor } from './device-tensor.ts';
export type { GpuTensor } from './gpu-buffers.ts';
export type { Inputs } from './input-value.ts';
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
export type { SessionSource } from './source.ts';
export { type NestedArray, Tensor } from './tensor.ts';
export type { TuneOptions, TuneProgress, TuningReport } from './tune-session.ts';
export type { CompareOptions, SessionComparison } from './compare-session.ts';
export type { ExpectedValues } from './compare-values.ts';
export type {
  DebugOptions,
  DebugPlace,
  DebugRun,
  OrderOptions,
  RegisterPlace,
} from './debug-session.ts';
export type { TimelineOptions } from './timeline-session.ts';
export type { TracedSession, TracedValue, TraceOptions } from './trace-session.ts';
export type { OverflowOptions, OverflowReport, VerifyOptions } from './verify-session.ts';
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
} from './session-value.ts';
