/** Package entry `weft-vm/vm`: runs executables on devices. Bundles no compiler and no printer. */
export type { CompileMode, CompileModeOption } from '../core/contracts/compile-mode.ts';
export type { Precision, PrecisionOption } from '../core/contracts/precision.ts';
export { HostTensor } from '../core/tensor/host-tensor.ts';
export { OpaqueValue } from '../core/contracts/opaque-value.ts';
export type { CodePlace, PausedCall, PauseOptions } from '../core/contracts/paused-call.ts';
export type {
  Allocator,
  AllocatorCounters,
  AllocatorOptions,
  SizeClassCounters,
} from './allocator/allocator.ts';
export { PooledAllocator } from './allocator/pooled-allocator.ts';
export type { PrimitiveFunction } from '../core/contracts/primitive-function.ts';
export type {
  Device,
  DeviceBuffer,
  DeviceCounters,
  DeviceInfo,
  DeviceRange,
  DeviceTensor as LaunchTensor,
  Kernel,
  KernelTiming,
  PreparedKernels,
  PrepareOptions,
} from '../device/device.ts';
export type { DataBlock } from '../bytecode/file/executable-reader.ts';
export type {
  HostFunction,
  HostFunctions,
  HostInput,
  HostNodeFunction,
  HostResult,
} from './link/host-function.ts';
export { FunctionProfile, type FunctionUse } from './profile/function-profile.ts';
export { importFunctions } from './link/import-functions.ts';
export type { InstrumentedCall, MachineInstrument } from './profile/instrument-calls.ts';
export type { Limits } from './invocation.ts';
export type { MachineOptions, MachineProgress } from './link/load-machine.ts';
export type { DeviceMemory, MemoryReport } from './profile/memory-report.ts';
export {
  type Restored,
  type RestoreOptions,
  type ResumedCall,
  restoreSnapshot,
  resumeSnapshot,
} from './snapshot/resume-snapshot.ts';
export { RunControl } from './snapshot/run-control.ts';
export {
  type HostState,
  type HostStates,
  type SnapshotOptions,
  takeSnapshot,
} from './snapshot/take-snapshot.ts';
export {
  AdtValue,
  ClosureValue,
  DTypeValue,
  FloatValue,
  type MachineValue,
  PackedFunctionValue,
  ShapeHeap,
  ShapeValue,
  StorageValue,
  TensorValue,
  type Value,
} from './values/value.ts';
export {
  type InvokeOptions,
  type MachineFunction,
  VirtualMachine,
} from './virtual-machine.ts';
export type { Profile } from './profile/profile-call.ts';
