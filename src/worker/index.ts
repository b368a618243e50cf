export { createDevice, createService, serve } from './checked-service.ts';
export type { DeviceOptions, ServiceOptions } from './create-service.ts';
export type { MachineLimits, ProgramLimits } from '../core/limits/program-limits.ts';
export type {
  HostFunction,
  HostFunctions,
  HostNodeFunction,
} from '../runtime/link/host-function.ts';
export type { HostState, HostStates } from '../runtime/snapshot/take-snapshot.ts';
