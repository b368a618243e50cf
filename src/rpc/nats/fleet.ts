import type { NatsConnection } from '@nats-io/nats-core';
import { Executable } from '../../bytecode/file/executable-file.ts';
import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import { connect, type ConnectOptions, type Remote } from '../connect.ts';
import { LimitError, RemoteLostError } from '../errors.ts';
import { sha256 } from '../executable-store.ts';
import type { RemoteDevice } from '../device-service.ts';
import { DEFAULT_RPC_LIMITS, LIMITS } from '../limits.ts';
import type { RpcFunction } from '../values/rpc-value.ts';
import { type DeviceQuery, parseDeviceQuery } from './device-query.ts';
import { ExecutableObjects } from './executable-objects.ts';
import { type FleetDevice, readFleetDevice } from './fleet-device.ts';
import { FleetModule, type LoadedOn } from './fleet-module.ts';
import type { NatsChannelOptions } from './nats-channel.ts';
import { asRpcError, openChannel } from './open-channel.ts';
import { DEFAULT_GROUP, deviceSubject, groupSubject, SERVICE_NAME } from './subjects.ts';

/** Who looks for devices, and how long. */
export interface FleetOptions
  extends NatsChannelOptions,
    Pick<ConnectOptions, 'token' | 'name' | 'limits'> {
  /** How long devices may take to say that they are there. Default: 2000. */
  readonly discoveryMs?: number | undefined;
}

const FLEET_OPTIONS: OptionKinds<FleetOptions> = {
  token: 'text',
  name: 'text',
  limits: LIMITS,
  discoveryMs: 'milliseconds',
  pingMs: 'milliseconds',
  silenceMs: 'milliseconds',
};

/** A connection with one device of a fleet. */
interface FleetRemote {
  readonly remote: Remote;
  readonly device: RemoteDevice;
}

/** Which devices of a fleet load a program. */
export interface FleetLoadOptions {
  /**
   * Which devices: terms with blanks between them that all have to hold, `class=software memory>=1GiB`. Default: all.
   */
  readonly query?: string | undefined;
  /** How many of them at most. Default: all. */
  readonly count?: number | undefined;
  /** Functions of this side that the program calls by name. */
  readonly functions?: Readonly<Record<string, RpcFunction>> | undefined;
  /** Aborts the load, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

const LOAD_OPTIONS: OptionKinds<FleetLoadOptions> = {
  query: 'text',
  count: 'count',
  functions: 'object',
  signal: 'signal',
};

interface Candidate {
  readonly member: FleetDevice;
  /** Its first device that is as the query wants. */
  readonly index: number;
}

/** After the last answer of a device, no more are waited for. */
const STALL_MS = 300;
const MAX_MEMBERS = 10_000;

/** The devices that announce themselves over a connection to NATS, which stays the caller's. */
export class Fleet {
  readonly #nats: NatsConnection;
  readonly #options: FleetOptions;
  readonly #objects: ExecutableObjects;

  constructor(nats: NatsConnection, options: FleetOptions) {
    checkOptions('Fleet', options, FLEET_OPTIONS);
    this.#nats = nats;
    this.#options = options;
    this.#objects = new ExecutableObjects(nats);
  }

  /** Who serves devices that are as the query wants, the least busy first. */
  async devices(query = ''): Promise<FleetDevice[]> {
    return (await this.#candidates(query)).map(({ member }) => member);
  }

  /**
   * Opens a connection with the least busy device that is as the query wants. Rejects with
   * RemoteLostError when there is none, with LimitError when all are busy.
   */
  async connect(query = '', signal?: AbortSignal): Promise<FleetRemote> {
    const candidates = await this.#candidates(query);
    let refusal: unknown = noDevice(query);
    for (const { member, index } of candidates) {
      try {
        return await this.#connection(deviceSubject(member.id), { index, signal });
      } catch (error) {
        // One that is busy, or went away since it answered: the next one may do.
        if (!(error instanceof LimitError || error instanceof RemoteLostError)) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  /** Opens a connection with one device of a group; the broker chooses which, so that all get some. */
  async connectGroup(group: string = DEFAULT_GROUP, signal?: AbortSignal): Promise<FleetRemote> {
    return this.#connection(groupSubject(group), { index: 0, signal });
  }

  /**
   * Puts an executable into the broker's object store, where devices find it by its SHA-256, the result.
   * A broker without JetStream keeps nothing: then connections send it.
   */
  async publish(program: Executable | Uint8Array): Promise<string> {
    const bytes = program instanceof Executable ? program.toBytes() : program;
    const hash = await sha256(bytes);
    await this.#objects.put(hash, bytes);
    return hash;
  }

  /**
   * Loads an executable on several devices, which share its calls. It is sent to the broker once. Devices
   * that cannot load it are left out. Rejects when none can.
   */
  async load(
    program: Executable | Uint8Array,
    options: FleetLoadOptions = {},
  ): Promise<FleetModule> {
    checkOptions('Fleet.load', options, LOAD_OPTIONS);
    const { query = '', count = Number.POSITIVE_INFINITY, functions, signal } = options;
    const bytes = program instanceof Executable ? program.toBytes() : program;
    const candidates = (await this.#candidates(query)).slice(0, count);
    if (candidates.length === 0) throw noDevice(query);
    await this.publish(bytes);
    const loading = candidates.map(async ({ member, index }): Promise<LoadedOn> => {
      const subject = deviceSubject(member.id);
      const { remote, device } = await this.#connection(subject, { index, signal });
      try {
        return { remote, module: await remote.load(bytes, { device, functions, signal }) };
      } catch (error) {
        remote.close();
        throw error;
      }
    });
    const outcomes = await Promise.allSettled(loading);
    const loaded = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? [outcome.value] : [],
    );
    const [refused] = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as Error] : [],
    );
    if (loaded.length === 0) throw refused ?? noDevice(query);
    return new FleetModule(loaded);
  }

  async #connection(
    subject: string,
    { index, signal }: { readonly index: number; readonly signal: AbortSignal | undefined },
  ): Promise<FleetRemote> {
    signal?.throwIfAborted();
    const { token, name, limits, ...timing } = this.#options;
    const timeoutMs = limits?.handshakeMs ?? DEFAULT_RPC_LIMITS.handshakeMs;
    const channel = await openChannel(this.#nats, subject, { ...timing, timeoutMs });
    const remote = await connect(channel, { token, name, limits, signal, encrypt: true });
    const device = remote.devices[index];
    if (device !== undefined) return { remote, device };
    remote.close();
    throw noDevice('');
  }

  async #candidates(query: string): Promise<Candidate[]> {
    const matches = parseDeviceQuery(query);
    const members = await this.#members();
    return members
      .flatMap((member) => candidate(member, matches))
      .sort((a, b) => busyness(a.member) - busyness(b.member) || order(a.member.id, b.member.id));
  }

  /** The servers that announce devices; malformed answers are left out. */
  async #members(): Promise<FleetDevice[]> {
    const found = new Map<string, FleetDevice>();
    try {
      const answers = await this.#nats.requestMany(`$SRV.STATS.${SERVICE_NAME}`, undefined, {
        strategy: 'stall',
        stall: STALL_MS,
        maxWait: this.#options.discoveryMs ?? 2000,
        maxMessages: MAX_MEMBERS,
      });
      for await (const answer of answers) {
        const member = readFleetDevice(readJson(answer));
        if (member !== undefined) found.set(member.id, member);
      }
    } catch (error) {
      if (!isNobody(error)) throw asRpcError(error, 'NATS');
    }
    return [...found.values()];
  }
}

function candidate(member: FleetDevice, matches: DeviceQuery): Candidate[] {
  const index = member.devices.findIndex((device) => matches(member, device));
  return index < 0 ? [] : [{ member, index }];
}

function busyness({ connections, calls, limits }: FleetDevice): number {
  return calls + connections / Math.max(limits.connections, 1);
}

function order(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function readJson(message: { json(): unknown }): unknown {
  try {
    return message.json();
  } catch {
    return undefined;
  }
}

function isNobody(error: unknown): boolean {
  return error instanceof Error && /no responders/i.test(error.message);
}

function noDevice(query: string): RemoteLostError {
  return new RemoteLostError({
    where: 'fleet',
    got: query === '' ? 'no device' : `no device with ${query}`,
    expected: 'one that is served',
    remedy: 'See `weft rpc devices --nats`.',
  });
}
