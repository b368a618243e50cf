import type { NatsConnection } from '@nats-io/nats-core';
import { type Service, type ServiceMsg, Svcm } from '@nats-io/services';
import { ExecutableStore } from '../executable-store.ts';
import { checkOptions } from '../../core/check-options.ts';
import type { ServeEvent } from '../served-device.ts';
import { describeDevice } from '../device-service.ts';
import { DEFAULT_RPC_LIMITS } from '../limits.ts';
import { SERVE_OPTIONS, serveChannel, type ServeOptions } from '../serve.ts';
import { ConnectionSlots } from '../connection-slots.ts';
import { ExecutableObjects } from './executable-objects.ts';
import { type DeviceLoad, describeFleetDevice } from './fleet-device.ts';
import { NatsChannel, type NatsChannelOptions } from './nats-channel.ts';
import { asRpcError, encodeInbox, FULL, MALFORMED, readInbox } from './open-channel.ts';
import {
  DEFAULT_GROUP,
  deviceSubject,
  groupSubject,
  SERVICE_NAME,
  SERVICE_VERSION,
} from './subjects.ts';

/** Devices that are served over NATS. */
export interface ServeNatsOptions extends Omit<ServeOptions, 'encrypt'>, NatsChannelOptions {
  /** Clients that ask a group get one of its devices. Default: `any`. */
  readonly group?: string | undefined;
  /** Connections at one time. Default: 8. */
  readonly maxConnections?: number | undefined;
}

/** Devices that are served over NATS. */
export interface FleetServing {
  /** The service id, by which clients ask for this device alone. */
  readonly id: string;
  /** Resolves when it is over: after `stop`, or with the reason when the connection was closed. */
  readonly ended: Promise<Error | undefined>;
  /** Takes no more connections and ends those that are open. That to the broker stays. */
  stop(): Promise<void>;
}

/**
 * Announces devices as a service of NATS and serves them to whoever knows the token. When the client
 * of NATS connects again after a loss, the service is there again; connections are not resumed. Rejects
 * with RemoteLostError or AccessError.
 */
export async function serveNats(
  nats: NatsConnection,
  options: ServeNatsOptions,
): Promise<FleetServing> {
  const { encrypt: _, ...kinds } = SERVE_OPTIONS;
  checkOptions<ServeNatsOptions>('serveNats', options, {
    ...kinds,
    group: 'text',
    maxConnections: 'count',
    pingMs: 'milliseconds',
    silenceMs: 'milliseconds',
  });
  const server = new FleetServer(nats, options);
  await server.announce();
  return server;
}

class FleetServer implements FleetServing {
  readonly #nats: NatsConnection;
  readonly #options: ServeNatsOptions;
  readonly #maxConnections: number;
  readonly #slots: ConnectionSlots;
  readonly #store: ExecutableStore;
  #calls = 0;
  #service: Service | undefined;
  ended: Promise<Error | undefined> = Promise.resolve(undefined);

  constructor(nats: NatsConnection, options: ServeNatsOptions) {
    const { maxConnections = 8, limits } = options;
    const { executableBytes } = { ...DEFAULT_RPC_LIMITS, ...limits };
    const objects = new ExecutableObjects(nats);
    this.#nats = nats;
    this.#options = options;
    this.#maxConnections = maxConnections;
    this.#slots = new ConnectionSlots(maxConnections);
    this.#store =
      options.store ??
      new ExecutableStore(executableBytes, (hash, limit) => objects.get(hash, limit));
  }

  get id(): string {
    return this.#service?.info().id ?? '';
  }

  async announce(): Promise<void> {
    const { devices, group = DEFAULT_GROUP, limits } = this.#options;
    const name = this.#options.name ?? devices[0]?.info.name ?? 'device';
    const { messageBytes, pending } = { ...DEFAULT_RPC_LIMITS, ...limits };
    const subject = groupSubject(group);
    try {
      const service = await new Svcm(this.#nats).add({
        name: SERVICE_NAME,
        version: SERVICE_VERSION,
        description: 'devices that run Weft executables',
        metadata: describeFleetDevice({
          name,
          group,
          devices: devices.map(describeDevice),
          limits: { connections: this.#maxConnections, messageBytes, pending },
        }),
        statsHandler: async () => this.#load(),
      });
      this.#service = service;
      const handler = (error: Error | null, request: ServiceMsg): void => {
        if (error === null) this.#open(request);
      };
      service.addEndpoint('group', { subject, handler });
      service.addEndpoint('device', { subject: deviceSubject(service.info().id), handler });
      this.ended = service.stopped.then((reason) => {
        this.#slots.close();
        return reason ?? undefined;
      });
      await this.#nats.flush();
    } catch (error) {
      throw asRpcError(error, 'NATS');
    }
  }

  async stop(): Promise<void> {
    this.#slots.close();
    await this.#service?.stop();
  }

  #load(): DeviceLoad {
    return { sessions: this.#slots.size, calls: this.#calls };
  }

  #open(request: ServiceMsg): void {
    const peer = readInbox(request);
    if (peer === undefined) {
      request.respondError(MALFORMED, 'a request without an inbox');
      return;
    }
    if (this.#slots.isFull) {
      request.respondError(FULL, `as many connections as it accepts (${this.#maxConnections})`);
      return;
    }
    const channel = new NatsChannel(this.#nats, this.#options);
    channel.join(peer);
    const tally = { running: 0 };
    const connection = serveChannel(channel, {
      ...this.#options,
      encrypt: true,
      store: this.#store,
      onEvent: (event) => this.#notice(event, tally),
    });
    this.#slots.add(connection);
    request.respond(encodeInbox(channel));
  }

  #notice(event: ServeEvent, tally: { running: number }): void {
    const before = tally.running;
    if (event.kind === 'call') tally.running++;
    // Work that ends after its connection was taken off then.
    else if (event.kind === 'done') tally.running = Math.max(before - 1, 0);
    else if (event.kind === 'closed') tally.running = 0;
    this.#calls += tally.running - before;
    this.#options.onEvent?.(event);
  }
}
