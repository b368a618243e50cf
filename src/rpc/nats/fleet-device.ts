import type { RemoteDevice } from '../device-service.ts';
import { isServiceId } from './subjects.ts';

/** A server of devices over NATS, as announced. Whoever may publish may announce anything. */
export interface FleetDevice {
  /** The id of the service in NATS. */
  readonly id: string;
  /** The name that the server gives itself. */
  readonly name: string;
  /** The group that it belongs to. */
  readonly group: string;
  /** The devices that it serves. */
  readonly devices: readonly RemoteDevice[];
  /** Connections that it takes at a time, bytes of one message, and calls at a time in a connection. */
  readonly limits: FleetLimits;
  /** Connections that are open. */
  readonly connections: number;
  /** Calls that are running. */
  readonly calls: number;
}

/** Options of a server of devices. */
interface FleetLimits {
  /** The most connections at one time. */
  readonly connections: number;
  readonly messageBytes: number;
  /** Calls of one connection that were not answered. */
  readonly pending: number;
}

/** The part that changes: the data of a service's endpoints, in the words of the wire. */
export interface DeviceLoad {
  /** Connections that are open. */
  readonly sessions: number;
  readonly calls: number;
}

const MAX_TEXT = 200;
const MAX_DEVICES = 64;

/** The part that stays: the metadata of a service, which NATS takes as texts. */
export function describeFleetDevice({
  name,
  group,
  devices,
  limits: { connections: sessions, ...limits },
}: Pick<FleetDevice, 'name' | 'group' | 'devices' | 'limits'>): Record<string, string> {
  const bounds = { sessions, ...limits };
  return { name, group, devices: JSON.stringify(devices), limits: JSON.stringify(bounds) };
}

/** A service's answer to a request for its statistics; undefined for what is no device. */
export function readFleetDevice(answer: unknown): FleetDevice | undefined {
  const { id, metadata, endpoints } = record(answer);
  const { name, group, devices, limits } = record(metadata);
  if (!isServiceId(id) || typeof name !== 'string' || typeof group !== 'string') return undefined;
  const list = parseJson(devices);
  if (!Array.isArray(list) || list.length > MAX_DEVICES) return undefined;
  const bounds = record(parseJson(limits));
  const load = record(record(Array.isArray(endpoints) ? endpoints[0] : undefined)['data']);
  return {
    id,
    name: printable(name),
    group: printable(group),
    devices: list.map(readDevice),
    limits: {
      connections: count(bounds['sessions']),
      messageBytes: count(bounds['messageBytes']),
      pending: count(bounds['pending']),
    },
    connections: count(load['sessions']),
    calls: count(load['calls']),
  };
}

function readDevice(device: unknown): RemoteDevice {
  const { name, kind, vendor, architecture, adapterClass, maxBufferByteLength } = record(device);
  return {
    name: printable(name),
    kind: printable(kind),
    vendor: printable(vendor),
    architecture: printable(architecture),
    adapterClass: printable(adapterClass),
    maxBufferByteLength: count(maxBufferByteLength),
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function parseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? (JSON.parse(text) as unknown) : undefined;
  } catch {
    return undefined;
  }
}

function count(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}

/** Without what would move a terminal's cursor. */
function printable(text: unknown): string {
  return typeof text === 'string' ? text.replaceAll(/\p{C}/gu, '').slice(0, MAX_TEXT) : '';
}
