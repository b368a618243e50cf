import { type Channel, CHANNEL } from './channels/channel.ts';
import {
  checkOptions,
  fits,
  having,
  listOf,
  type OptionKinds,
  requireKind,
} from '../core/check-options.ts';
import type { Clock } from '../core/async/clock.ts';
import { Connection } from './connection.ts';
import { ExecutableStore } from './executable-store.ts';
import { admit } from './handshake/handshake.ts';
import { DeviceService } from './device-service.ts';
import type { ServedDevice, ServeEvent } from './served-device.ts';
import { DEFAULT_RPC_LIMITS, LIMITS, type RpcLimits } from './limits.ts';
import { SealedChannel } from './channels/sealed-channel.ts';
import { DEVICE } from '../runtime/link/load-machine.ts';
import type { RpcFunction } from './values/rpc-value.ts';

/** The devices that are served, to whom, and what they may take up. */
export interface ServeOptions {
  /** The devices that are served. With a host device among them, programs for WebGPU find theirs. */
  readonly devices: readonly ServedDevice[];
  /** The secret of both sides: at least 16 random characters. */
  readonly token: string;
  /** Refuses clients that do not encrypt. Default: false; always over NATS. */
  readonly encrypt?: boolean | undefined;
  /** Functions that the other side may call, and programs that it loads. Nothing else is. */
  readonly offer?: Readonly<Record<string, RpcFunction>> | undefined;
  /** Limits of the other side here; {@link DEFAULT_RPC_LIMITS} has those that are absent. */
  readonly limits?: Partial<RpcLimits> | undefined;
  /** The name of this side in errors. Default: the first device's name. */
  readonly name?: string | undefined;
  /** Keeps executables beyond one connection. */
  readonly store?: ExecutableStore | undefined;
  /** Who connects and what runs, for a page that shows it. */
  readonly onEvent?: ((event: ServeEvent) => void) | undefined;
  /** @internal */
  readonly clock?: Clock | undefined;
}

/** One connection of somebody who may use the devices. */
export interface Served {
  /** Resolves when the other side has proved that it knows the token; rejects when it cannot. */
  readonly ready: Promise<void>;
  /** Resolves with the reason when the connection is over. Everything it held is released then. */
  readonly closed: Promise<Error>;
  /** Ends the connection. The devices stay. */
  close(): void;
}

/** Connections of this page or process so far: events of several servers tell them apart. */
let connectionCount = 0;

/** Kinds of {@link ServeOptions}. */
export const SERVE_OPTIONS: OptionKinds<ServeOptions> = {
  devices: listOf(DEVICE),
  token: 'text',
  encrypt: 'boolean',
  offer: [
    'functions by their names',
    (value) => Object.values(Object(value)).every((fn) => fits('function', fn)),
  ],
  limits: LIMITS,
  name: 'text',
  store: having('an ExecutableStore', 'find'),
  onEvent: 'function',
  clock: having('a clock', 'after'),
};

/** Serves devices to whoever is at the other end of a channel and knows the token. */
export function serve(channel: Channel, options: ServeOptions): Served {
  checkOptions<ServeOptions>('serve', options, SERVE_OPTIONS);
  requireKind('serve', CHANNEL, ['the other side', channel]);
  requireKind('serve', 'text', ['token', options.token]);
  const isSome = options.devices?.length > 0;
  requireKind('serve', ['one or more', () => isSome], ['devices', options.devices]);
  return serveChannel(channel, options);
}

/** {@link serve} with options that are checked. */
export function serveChannel(channel: Channel, options: ServeOptions): Served {
  const id = connectionCount++;
  let connection: Connection | undefined;
  const opening = open(channel, options, id).then((opened) => {
    connection = opened;
    return opened;
  });
  const closed = opening.then(
    ({ closed: over }) => over,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  const { onEvent } = options;
  if (onEvent !== undefined) {
    void closed.then((reason) => onEvent({ connection: id, kind: 'closed', reason }));
  }
  const ready = opening.then(() => undefined);
  // Who does not wait for it looks at `closed`.
  ready.catch(() => undefined);
  return {
    ready,
    closed,
    close: () => (connection === undefined ? channel.close() : connection.close()),
  };
}

async function open(channel: Channel, options: ServeOptions, id: number): Promise<Connection> {
  const limits: RpcLimits = { ...DEFAULT_RPC_LIMITS, ...options.limits };
  const { devices, token, name = devices[0]?.info.name ?? 'remote', offer = {} } = options;
  const { encrypt: isSealed = false } = options;
  const timeoutMs = limits.handshakeMs;
  const { name: peer, keys } = await admit(channel, { token, name, timeoutMs, isSealed });
  const sealed = keys === undefined ? channel : new SealedChannel(channel, keys);
  const store = options.store ?? new ExecutableStore(limits.executableBytes);
  const { onEvent, clock } = options;
  const served = new DeviceService({
    devices,
    offer,
    limits,
    store,
    clock,
    onEvent: onEvent && ((event) => onEvent({ connection: id, ...event })),
  });
  const { methods } = served;
  const connection = new Connection(sealed, { limits, peerName: peer, methods });
  void connection.closed.then(() => served.dispose());
  onEvent?.({ connection: id, kind: 'connected', peer });
  return connection;
}
