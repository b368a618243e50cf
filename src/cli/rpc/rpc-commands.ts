import { readFile } from 'node:fs/promises';
import { UsageError } from '../../core/errors.ts';
import {
  connect,
  createToken,
  deriveRelayToken,
  type ServedDevice,
  type ServeEvent,
  serveRelay,
} from '../../rpc/index.ts';
import { createDevice } from '../../worker/create-service.ts';
import { readProgram } from '../files/read-program.ts';
import type { Terminal } from '../terminal.ts';
import { startRelay } from './start-relay.ts';

export interface TokenFlags {
  readonly tokenFile?: string;
}

interface RelayTokenFlags extends TokenFlags {
  readonly relayTokenFile?: string;
}

export interface RelayFlags extends RelayTokenFlags {
  readonly port: number;
  readonly host: string;
  readonly name?: readonly string[];
  readonly trustProxy?: boolean;
  readonly origin?: readonly string[];
}

export interface DeviceFlags extends TokenFlags {
  readonly device: readonly ('host' | 'wasm' | 'webgpu')[];
  readonly maxConnections: number;
  /** How many threads the device `wasm` has. */
  readonly threads?: number;
}

export interface ServeFlags extends DeviceFlags, RelayTokenFlags {
  readonly relay: string;
  readonly key: string;
}

export interface BenchFlags extends RelayTokenFlags {
  readonly relay: string;
  readonly key: readonly string[];
  readonly function: string;
  readonly arg?: readonly number[];
  readonly number: number;
  readonly repeat: number;
  readonly minRepeatMs: number;
}

/** The environment variable that holds the token where no file is named. */
const TOKEN_VARIABLE = 'WEFT_RPC_TOKEN';
/** That of the relay; where it is absent, the relay's is derived from the token. */
const RELAY_TOKEN_VARIABLE = 'WEFT_RELAY_TOKEN';

/** `weft rpc token`: a new random token, or what the relay of a token may know. */
export async function tokenCommand(
  { relay = false, ...flags }: TokenFlags & { readonly relay?: boolean },
  terminal: Terminal,
): Promise<number> {
  terminal.out(`${relay ? await deriveRelayToken(await readToken(flags)) : createToken()}\n`);
  return 0;
}

/** `weft rpc relay`: pairs devices and clients until the signal. */
export async function relayCommand(
  flags: RelayFlags,
  terminal: Terminal,
  signal: AbortSignal = interrupted(),
): Promise<number> {
  const { port, host, name: names, origin: origins, trustProxy } = flags;
  const relayToken =
    (await readRelayToken(flags)) ?? (await deriveRelayToken(await readToken(flags)));
  const relay = await startRelay({ port, host, names, origins, trustProxy, relayToken });
  terminal.out(`relay at ${relay.url}\n`);
  await aborted(signal);
  await relay.close();
  return 0;
}

/** `weft rpc serve`: serves devices of this machine through a relay until the signal. */
export async function serveCommand(
  flags: ServeFlags,
  terminal: Terminal,
  signal: AbortSignal = interrupted(),
): Promise<number> {
  const token = await readToken(flags);
  const devices = await openDevices(flags);
  terminal.out(`serves ${namesOf(devices)} as ${flags.key} at ${flags.relay}\n`);
  const serving = serveRelay(flags.relay, {
    key: flags.key,
    token,
    relayToken: await readRelayToken(flags),
    devices,
    name: flags.key,
    maxConnections: flags.maxConnections,
    onEvent: eventPrinter(terminal),
  });
  signal.addEventListener('abort', () => serving.stop(), { once: true });
  try {
    await serving.ended;
    return 0;
  } finally {
    for (const device of devices) device.destroy();
  }
}

/** The devices of this machine that were asked for, and the host, where programs for WebGPU find theirs. */
export async function openDevices({ device, threads }: DeviceFlags): Promise<ServedDevice[]> {
  const devices: ServedDevice[] = [];
  for (const kind of new Set([...device, 'host' as const])) {
    devices.push(await createDevice(kind, undefined, { threads }));
  }
  return devices;
}

export function namesOf(devices: readonly ServedDevice[]): string {
  return devices.map(({ info }) => info.name).join(', ');
}

/** Says who comes, what is loaded and who is gone. */
export function eventPrinter(terminal: Terminal): (event: ServeEvent) => void {
  return (event) => {
    if (event.kind === 'connected') terminal.out(`${event.peer} connected\n`);
    if (event.kind === 'load') {
      terminal.out(`loads ${event.hash.slice(0, 12)} on ${event.device}\n`);
    }
    if (event.kind === 'closed') terminal.out('a connection ended\n');
  };
}

/** `weft rpc bench`: times a function of several executables on all devices of several remotes. */
export async function benchCommand(
  paths: readonly string[],
  flags: BenchFlags,
  terminal: Terminal,
): Promise<number> {
  const token = await readToken(flags);
  const relayToken = await readRelayToken(flags);
  const programs = await Promise.all(
    paths.map(async (path) => ({ path, program: await readProgram(path, { dims: {} }) })),
  );
  terminal.out(
    `${columns(['program', 'device', 'median ms', 'mean ms', 'deviation', 'kernels ms'])}\n`,
  );
  for (const key of flags.key) {
    const remote = await connect(flags.relay, { token, relayToken, key, name: 'weft rpc bench' });
    try {
      for (const { path, program } of programs) {
        for (const device of remote.devices) {
          const module = await remote.load(program, { device });
          const callee = await module.getFunction(flags.function);
          const result = await remote.timeEvaluator(callee, flags)(...(flags.arg ?? []));
          const { median, mean, standardDeviation, kernelMs } = result;
          const times = [median, mean, standardDeviation, kernelMs].map(
            (time) => time?.toFixed(3) ?? '-',
          );
          terminal.out(`${columns([path, `${key}: ${device.name}`, ...times])}\n`);
          module.release();
        }
      }
    } finally {
      remote.close();
    }
  }
  return 0;
}

function columns([first = '', second = '', ...rest]: readonly string[]): string {
  return [first.padEnd(32), second.padEnd(24), ...rest.map((cell) => cell.padStart(11))].join(' ');
}

/** A token never stands among the arguments, which everybody on the machine can read. */
export async function readToken({ tokenFile }: TokenFlags): Promise<string> {
  const token =
    tokenFile === undefined
      ? process.env[TOKEN_VARIABLE]
      : (await readFile(tokenFile, 'utf8')).trim();
  if (token !== undefined && token !== '') return token;
  throw new UsageError({
    where: 'weft rpc',
    got: 'no token',
    expected: `--token-file, or the environment variable ${TOKEN_VARIABLE}`,
    remedy: 'Make one with `weft rpc token`.',
  });
}

/** The relay's own token, where there is one. */
async function readRelayToken({ relayTokenFile }: RelayTokenFlags): Promise<string | undefined> {
  if (relayTokenFile !== undefined) return (await readFile(relayTokenFile, 'utf8')).trim();
  return process.env[RELAY_TOKEN_VARIABLE];
}

export function interrupted(): AbortSignal {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  process.once('SIGTERM', () => controller.abort());
  return controller.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
