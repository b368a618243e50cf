export { createDevice, createService, serve } from './checked-service.ts';
export type { DeviceOptions, ServiceOptions } from './create-service.ts';
