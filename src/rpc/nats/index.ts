/** Package entry `weft-vm/rpc/nats`: fleets of devices over NATS. */
export { type DeviceQuery, parseDeviceQuery } from './device-query.ts';
export { Fleet, type FleetLoadOptions, type FleetOptions, type FleetRemote } from './fleet.ts';
export type { FleetDevice, FleetLimits } from './fleet-device.ts';
export { type FleetFunction, FleetModule } from './fleet-module.ts';
export type { NatsChannelOptions } from './nats-channel.ts';
export { openNats, type OpenNatsOptions } from './open-nats.ts';
export { type FleetServing, serveNats, type ServeNatsOptions } from './serve-nats.ts';
