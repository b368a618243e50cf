export { createDevice, createService, type ServiceOptions } from './create-service.ts';
export { serve } from './serve.ts';
export type { HostFunction, HostState, HostStates } from '../runtime/index.ts';
