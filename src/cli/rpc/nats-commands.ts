import {
  Fleet,
  type FleetDevice,
  serveNats,
  openNats,
  type OpenNatsOptions,
} from '../../rpc/nats/index.ts';
import { type DeviceQuery, parseDeviceQuery } from '../../rpc/nats/device-query.ts';
import { createToken } from '../../rpc/index.ts';
import { formatBytes } from '../format-bytes.ts';
import type { Terminal } from '../terminal.ts';
import {
  aborted,
  eventPrinter,
  interrupted,
  type DeviceFlags,
  namesOf,
  openDevices,
  readToken,
} from './rpc-commands.ts';
import { readFile } from 'node:fs/promises';
import type { NatsConnection } from '@nats-io/nats-core';
import { UsageError } from '../../core/errors.ts';
import { authenticatorOf, checkNatsUrl } from '../../rpc/nats/open-nats.ts';
import { asRpcError } from '../../rpc/nats/open-channel.ts';

interface NatsFlags {
  readonly nats: string;
  readonly natsAuth?: string;
}

export interface ServeNatsFlags extends DeviceFlags, NatsFlags {
  readonly group: string;
  readonly name?: string;
}

export type DevicesFlags = NatsFlags;

/** `weft rpc serve --nats`: serves devices of this machine over NATS until the signal. */
export async function serveNatsCommand(
  flags: ServeNatsFlags,
  terminal: Terminal,
  signal: AbortSignal = interrupted(),
): Promise<number> {
  const token = await readToken(flags);
  const { group, name, maxConnections } = flags;
  const nats = await openBroker(flags.nats, {
    auth: await readNatsAuth(flags.natsAuth),
    name: 'weft rpc serve',
  });
  const devices = await openDevices(flags);
  try {
    const serving = await serveNats(nats, {
      devices,
      token,
      group,
      name,
      maxConnections,
      onEvent: eventPrinter(terminal),
    });
    terminal.out(
      `serves ${namesOf(devices)} as ${serving.id} in group ${group} at ${flags.nats}\n`,
    );
    const reason = await Promise.race([aborted(signal), serving.ended]);
    if (reason instanceof Error) throw reason;
    await serving.stop();
    return 0;
  } finally {
    await nats.close();
    for (const device of devices) device.destroy();
  }
}

/** `weft rpc devices`: a table of what is served; 1 when there is nothing. */
export async function devicesCommand(
  query: string,
  flags: DevicesFlags,
  terminal: Terminal,
): Promise<number> {
  const nats = await openBroker(flags.nats, {
    auth: await readNatsAuth(flags.natsAuth),
    name: 'weft rpc devices',
  });
  try {
    // Who only looks opens no connection, and needs no token of theirs.
    const matches = parseDeviceQuery(query);
    const found = await new Fleet(nats, { token: createToken() }).devices(query);
    const rows = [
      ['name', 'group', 'device', 'class', 'memory', 'connections', 'calls', 'id'],
      ...found.flatMap((member) => rowsOf(member, matches)),
    ];
    terminal.out(found.length === 0 ? 'no devices\n' : table(rows));
    return found.length === 0 ? 1 : 0;
  } finally {
    await nats.close();
  }
}

function rowsOf(member: FleetDevice, matches: DeviceQuery): string[][] {
  const { name, group, limits, connections, calls, id } = member;
  return member.devices
    .filter((device) => matches(member, device))
    .map((device) => [
      name,
      group,
      device.name,
      device.adapterClass,
      formatBytes(device.maxBufferByteLength),
      `${connections} of ${limits.connections}`,
      String(calls),
      id,
    ]);
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** The environment variable that holds what the broker asks for, where no file is named. */
const AUTH_VARIABLE = 'WEFT_NATS_AUTH';

/** Connects to NATS over TCP (`nats://`), TLS (`tls://`) or a WebSocket (`ws://`, `wss://`). */
export async function openBroker(
  url: string,
  { auth, name = 'weft' }: OpenNatsOptions = {},
): Promise<NatsConnection> {
  const { protocol } = checkNatsUrl(url);
  if (/^wss?:$/.test(protocol)) return openNats(url, { auth, name });
  if (!/^(nats|tls):$/.test(protocol)) {
    throw new UsageError({
      where: 'address of NATS',
      got: `the protocol ${protocol}`,
      expected: 'nats:, tls:, ws: or wss:',
    });
  }
  const { connect } = await importTransport(protocol);
  try {
    return await connect({
      servers: url,
      name,
      maxReconnectAttempts: -1,
      ignoreClusterUpdates: true,
      ...(protocol === 'tls:' && { tls: {} }),
      ...(auth !== undefined && { authenticator: authenticatorOf(auth) }),
    });
  } catch (error) {
    throw asRpcError(error, url);
  }
}

/** The package that speaks with NATS over TCP, which is installed only where it is wanted. */
async function importTransport(protocol: string) {
  try {
    return await import('@nats-io/transport-node');
  } catch (cause) {
    throw new UsageError(
      {
        where: 'address of NATS',
        got: `the protocol ${protocol} without the package "@nats-io/transport-node"`,
        expected: 'that package, or a broker that listens for WebSockets',
        remedy: 'Run `npm install @nats-io/transport-node`, or use an address with ws: or wss:.',
      },
      { cause },
    );
  }
}

/** The credential for the broker: never among the arguments, which everybody on the machine can read. */
async function readNatsAuth(file: string | undefined): Promise<string | undefined> {
  return file === undefined ? process.env[AUTH_VARIABLE] : (await readFile(file, 'utf8')).trim();
}
