export { createDevice, createService, type ServiceOptions } from './create-service.ts';
export { serve } from './serve.ts';
export type { HostFunction } from '../runtime/index.ts';
