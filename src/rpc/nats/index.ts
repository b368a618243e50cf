/** Package entry `weft-vm/rpc/nats`: fleets of devices over NATS. */
export { Fleet, type FleetLoadOptions, type FleetOptions } from './fleet.ts';
export type { FleetDevice } from './fleet-device.ts';
export { FleetModule } from './fleet-module.ts';
export { openNats, type OpenNatsOptions } from './open-nats.ts';
export { type FleetServing, serveNats, type ServeNatsOptions } from './serve-nats.ts';
