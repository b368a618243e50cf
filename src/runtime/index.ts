/** Package entry `weft-vm/vm`: runs executables on devices. Bundles no compiler and no printer. */
export { HostTensor } from '../core/tensor/host-tensor.ts';
export { OpaqueValue } from '../core/contracts/opaque-value.ts';
export type { PausedCall, PauseOptions } from '../core/contracts/paused-call.ts';
export type { Allocator, AllocatorOptions } from './allocator/allocator.ts';
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
  PreparedKernels,
  PrepareOptions,
} from '../device/device.ts';
export type { HostFunction } from './link/host-function.ts';
export { FunctionProfile } from './profile/function-profile.ts';
export { importFunctions } from './link/import-functions.ts';
export type { MachineInstrument } from './profile/function-profile.ts';
export type { MachineOptions } from './link/load-machine.ts';
export type { MemoryReport } from './profile/memory-report.ts';
export { type RestoreOptions, resumeSnapshot } from './snapshot/resume-snapshot.ts';
export { RunControl } from './snapshot/run-control.ts';
export { type SnapshotOptions, takeSnapshot } from './snapshot/take-snapshot.ts';
export {
  AdtValue,
  DTypeValue,
  FloatValue,
  type MachineValue,
  ShapeValue,
  StorageValue,
  TensorValue,
  type Value,
} from './values/value.ts';
export { type InvokeOptions, type MachineFunction, VirtualMachine } from './virtual-machine.ts';
export type { Profile } from './call.ts';
export type { Limits } from './invocation.ts';
