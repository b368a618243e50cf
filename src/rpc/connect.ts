import { DISPOSE } from '../core/async/dispose-symbols.ts';
import { Executable } from '../bytecode/file/executable-file.ts';
import { checkOptions, either, instanceOf, requireKind } from '../core/check-options.ts';
import { abortError, UsageError } from '../core/errors.ts';
import { shortList } from '../core/short-list.ts';
import type {
  OwnTables,
  SessionProvider,
  SessionService,
} from '../worker/protocol/session-service.ts';
import { type Channel, CHANNEL } from './channels/channel.ts';
import { Connection } from './connection.ts';
import { deriveRelayToken } from './handshake/credentials.ts';
import { sha256, type ShipProgress } from './executable-store.ts';
import { introduce } from './handshake/handshake.ts';
import type { RemoteDevice, RemoteFunctionInfo } from './device-service.ts';
import { DEFAULT_RPC_LIMITS, LIMITS, type RpcLimits } from './limits.ts';
import { joinRelay } from './channels/relay-channel.ts';
import { SealedChannel } from './channels/sealed-channel.ts';
import { RemoteModule } from './remote-module.ts';
import {
  anything,
  type Check,
  listOf,
  number,
  optional,
  record,
  text,
} from './values/checked-values.ts';
import { isRemoteFunction, type RemoteFunction } from './values/remote-handles.ts';
import type { RpcFunction, RpcInput } from './values/rpc-value.ts';
import type { TimeOptions, TimeResult } from './time-evaluator.ts';
import { toRpcValue } from './values/to-rpc-value.ts';
import { malformed } from './values/wire-values.ts';
import { openWebSocket } from './channels/web-socket-channel.ts';

/** Who connects, and what the other side may take up. */
export interface ConnectOptions {
  /**
   * The secret of both sides, at least 16 characters: of `createToken`, or any other text, which is
   * stretched (0.3 s, once). It is never sent.
   */
  readonly token: string;
  /** The relay's own credential. Default: derived from `token`, which it does not tell. */
  readonly relayToken?: string | undefined;
  /** The name of this side that the other one sees. Default: `client`. */
  readonly name?: string | undefined;
  /** The device to ask a relay for; absent: the address is the device itself. */
  readonly key?: string | undefined;
  /**
   * Encrypts what is sent, by AES-GCM under keys that both sides agree on by X25519 and prove with the
   * token. Default: false; always over NATS. Rejects with UnsupportedError where WebCrypto is missing.
   */
  readonly encrypt?: boolean | undefined;
  /** Limits of the other side here; {@link DEFAULT_RPC_LIMITS} has those that are absent. */
  readonly limits?: Partial<RpcLimits> | undefined;
  /** Gives up, and rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Where a program is loaded, and what it may call. */
export interface RemoteLoadOptions {
  /** A device of {@link Remote.devices}, or its place there. Default: the first. */
  readonly device?: RemoteDevice | number | undefined;
  /** Functions of this side that the program calls by name. */
  readonly functions?: Readonly<Record<string, RpcFunction>> | undefined;
  /** Called with how much of the executable was sent. */
  readonly onProgress?: ((progress: ShipProgress) => void) | undefined;
  /** Aborts the load, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a connection with somebody who serves devices. Rejects with AccessError for another token, with
 * RemoteLostError when nobody is there.
 */
export async function connect(to: Channel | string, options: ConnectOptions): Promise<Remote> {
  checkOptions<ConnectOptions>('connect', options, {
    token: 'text',
    relayToken: 'text',
    name: 'text',
    key: 'text',
    encrypt: 'boolean',
    limits: LIMITS,
    signal: 'signal',
  });
  requireKind('connect', 'text', ['token', options.token]);
  requireKind('connect', either('text', CHANNEL), ['the other side', to]);
  const { token, name = 'client', key, encrypt: isSealed = false, signal } = options;
  const limits: RpcLimits = { ...DEFAULT_RPC_LIMITS, ...options.limits };
  const channel = typeof to === 'string' ? await openWebSocket(to, signal) : to;
  const timeoutMs = limits.handshakeMs;
  const peer = await abortable(channel, signal, async () => {
    if (key !== undefined) {
      const relayToken = options.relayToken ?? (await deriveRelayToken(token));
      await joinRelay(channel, { role: 'client', key, relayToken, timeoutMs });
    }
    return introduce(channel, { token, name, timeoutMs, isSealed });
  });
  const methods = new Map();
  const sealed = peer.keys === undefined ? channel : new SealedChannel(channel, peer.keys);
  const connection = new Connection(sealed, { limits, peerName: peer.name, methods });
  const devices = await connection.call('devices', []);
  return new Remote(connection, DEVICES(devices, 'devices'));
}

const DEVICES: Check<readonly RemoteDevice[]> = listOf(
  record({
    name: text,
    kind: text,
    vendor: text,
    architecture: text,
    adapterClass: text,
    maxBufferByteLength: number,
  }),
);
const FUNCTIONS: Check<readonly RemoteFunctionInfo[]> = listOf(
  record({ name: text, paramNames: listOf(text) }),
);
const TIMES = record({
  results: listOf(number),
  mean: number,
  median: number,
  standardDeviation: number,
  number,
  kernelMs: optional(number),
});

/** Closes the channel when the signal aborts before the work is done. */
async function abortable<T>(
  channel: Channel,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const close = (): void => channel.close();
  signal?.addEventListener('abort', close, { once: true });
  try {
    if (signal?.aborted === true) close();
    return await work();
  } catch (error) {
    throw signal?.aborted === true ? abortError(signal) : error;
  } finally {
    signal?.removeEventListener('abort', close);
  }
}

/** The devices of another page, worker or process. */
export class Remote implements SessionProvider {
  /** The other side's name for itself. */
  readonly name: string;
  /** The devices that the other side serves. */
  readonly devices: readonly RemoteDevice[];
  /** Resolves with the reason when the connection is over. */
  readonly closed: Promise<Error>;
  readonly #connection: Connection;

  constructor(connection: Connection, devices: readonly RemoteDevice[]) {
    this.#connection = connection;
    this.name = connection.peerName;
    this.closed = connection.closed;
    this.devices = devices;
  }

  /**
   * Loads an executable on a remote device. It is sent unless the remote has one of the same SHA-256,
   * and verified there. Rejects with what loading rejects with.
   */
  async load(
    program: Executable | Uint8Array,
    options: RemoteLoadOptions = {},
  ): Promise<RemoteModule> {
    checkOptions<RemoteLoadOptions>('Remote.load', options, {
      device: either('count from 0', 'object'),
      functions: 'object',
      onProgress: 'function',
      signal: 'signal',
    });
    const { device = 0, functions = {}, onProgress, signal } = options;
    const bytes = program instanceof Executable ? program.toBytes() : program;
    const hash = await this.#ship(bytes, { signal, onProgress });
    const index = typeof device === 'number' ? device : this.devices.indexOf(device);
    const args = [hash, index, functions];
    const loaded = await this.#connection.call('load', args, { signal });
    const [module, infos] = listOf(anything)(loaded, 'module');
    if (!isRemoteFunction(module)) throw malformed('no module');
    return new RemoteModule(module, FUNCTIONS(infos, 'functions'));
  }

  /** Sends an executable unless it is there; resolves to its SHA-256. */
  async #ship(
    bytes: Uint8Array,
    { signal, onProgress }: Pick<RemoteLoadOptions, 'signal' | 'onProgress'>,
  ): Promise<string> {
    const hash = await sha256(bytes);
    const total = bytes.byteLength;
    const report = (loaded: number): void => onProgress?.({ loaded, total });
    if ((await this.#connection.call('has', [hash], { signal })) !== true) {
      await this.#connection.call('store', [hash, bytes], { signal, onProgress: report });
    } else report(total);
    return hash;
  }

  /** @internal For `Session.load`, whose sessions run here then. */
  async openService(tables?: OwnTables): Promise<SessionService> {
    const { RemoteService } = await import('./sessions/remote-service.ts');
    return new RemoteService(
      {
        ship: (program, options) => this.#ship(program, options),
        call: (name, args, options) => this.#connection.call('session', [name, ...args], options),
      },
      tables,
    );
  }

  /** A function that the other side offers. Rejects with UsageError for another name. */
  async getFunction(name: string): Promise<RemoteFunction> {
    const found = await this.#connection.call('offered', [name]);
    if (isRemoteFunction(found)) return found;
    throw malformed('a value that is not a function');
  }

  /**
   * Measures a remote function there: `remote.timeEvaluator(f, { repeat: 5 })(x)`. As TVM's
   * `time_evaluator`; see {@link TimeResult}.
   */
  timeEvaluator(
    callee: RemoteFunction,
    { number: runs = 1, repeat = 3, minRepeatMs = 0 }: TimeOptions = {},
  ): (...args: RpcInput[]) => Promise<TimeResult> {
    for (const [name, value] of Object.entries({ number: runs, repeat, minRepeatMs })) {
      if (Number.isSafeInteger(value) && value >= (name === 'minRepeatMs' ? 0 : 1)) continue;
      throw new UsageError({
        where: `timeEvaluator, ${name}`,
        got: `${value}`,
        expected: 'a count',
      });
    }
    return async (...args) => {
      const all = [callee, toRpcValue(args), runs, repeat, minRepeatMs];
      const times = TIMES(await this.#connection.call('evaluate', all), 'measurement');
      return { kernelMs: undefined, ...times };
    };
  }

  /** Takes a local function away from the remote, which got it as an argument. */
  revoke(callee: RpcFunction): void {
    this.#connection.revoke(callee);
  }

  /** Counts of objects that both sides hold for each other, for tests and for whoever shows them. */
  counters() {
    return this.#connection.counters();
  }

  /** Ends the connection. Everything that the remote held for it is freed. */
  close(): void {
    this.#connection.close();
  }

  /** Calls {@link close} at the end of a block with `using`. */
  [DISPOSE](): void {
    this.close();
  }
}

/** The device of a kind or adapter class. Throws UsageError that lists what there is. */
export function findDevice(remote: Remote, wanted: string): RemoteDevice {
  requireKind('findDevice', instanceOf('what connect gives', Remote), ['what is', remote]);
  const found = remote.devices.find((device) =>
    [device.kind, device.adapterClass, device.name].includes(wanted),
  );
  if (found !== undefined) return found;
  throw new UsageError({
    where: remote.name,
    got: `no device ${wanted}`,
    expected: `one of ${shortList(remote.devices.map(({ name }) => name))}`,
  });
}
