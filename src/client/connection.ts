import { wrap } from 'comlink';
import { errorFromData, UsageError, WorkerError } from '../core/errors.ts';
import type { CallId, Reply, SessionService, WorkerConfig } from '../worker/protocol.ts';
import { keepSpares } from './spare-memory.ts';
import { startWorker } from './start-worker.ts';

export type Send<T> = (service: SessionService, call: CallId) => Promise<Reply<T>>;

export interface CallOptions<T> {
  readonly signal?: AbortSignal | undefined;
  /** Gets a value that arrives after the call was aborted, to free what it holds. */
  readonly discard?: ((value: T, service: SessionService) => void) | undefined;
}

/** Where sessions run: the shared worker, one of the caller's, or this page. */
export interface ConnectionChoice {
  readonly worker: boolean | (() => Worker);
  /** For `worker: false`; default `navigator.gpu`. */
  readonly gpu?: GPU | undefined;
}

export function hasWorkers(): boolean {
  return typeof Worker === 'function';
}

function keyed({ worker, gpu }: ConnectionChoice) {
  const start = worker === true ? startWorker : worker;
  return { start, key: start === false ? (gpu ?? false) : start };
}

const connections = new Map<unknown, Connection>();
/** For connections that are there and those to come. */
const configs = new Map<unknown, WorkerConfig>();
let nextCall = 1;

/**
 * A worker (or this page) with the calls that wait for it. Sessions with the same choice share one;
 * it closes when the last of them goes.
 */
export class Connection {
  readonly #service: Promise<SessionService>;
  readonly #worker: Worker | undefined;
  readonly #pending = new Set<(error: Error) => void>();
  readonly #key: unknown;
  #failure: Error | undefined;
  #users = 0;

  /** The running connection of a choice, or a new one. {@link release} it in the end. */
  static acquire(choice: ConnectionChoice): Connection {
    const { start, key } = keyed(choice);
    const known = connections.get(key);
    const connection = known ?? new Connection(key, start, choice.gpu);
    connections.set(key, connection);
    connection.#users++;
    const config = configs.get(key);
    if (known === undefined && config) connection.post((service) => service.configure(config));
    return connection;
  }

  static configure(choice: ConnectionChoice, config: WorkerConfig): void {
    const { key } = keyed(choice);
    configs.set(key, config);
    connections.get(key)?.post((service) => service.configure(config));
  }

  private constructor(key: unknown, start: false | (() => Worker), gpu: GPU | undefined) {
    this.#key = key;
    if (start === false) {
      this.#service = import('../worker/index.ts').then((host) => host.createService({ gpu }));
      return;
    }
    try {
      this.#worker = start();
    } catch (cause) {
      throw new WorkerError('The worker could not be started.', { cause });
    }
    const service: SessionService = wrap<SessionService>(this.#worker);
    this.#service = Promise.resolve(service);
    this.#watch(this.#worker, service);
  }

  /** Rejects with the signal's reason, with the error of the worker, or when the worker is gone. */
  call<T>(send: Send<T>, { signal, discard }: CallOptions<T> = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#failure !== undefined) throw this.#failure;
      signal?.throwIfAborted();
      const call = nextCall++;
      let isOpen = true;
      const fail = (reason: unknown): void => {
        isOpen = false;
        this.#pending.delete(fail);
        signal?.removeEventListener('abort', abort);
        reject(reason);
      };
      const abort = (): void => {
        fail(signal?.reason);
        this.post((service) => service.cancel(call));
      };
      this.#pending.add(fail);
      signal?.addEventListener('abort', abort);
      const exchange = async (): Promise<void> => {
        const service = await this.#service;
        const reply = await send(service, call);
        if (!reply.ok) throw errorFromData(reply.error);
        if (reply.spares) keepSpares(reply.spares);
        if (isOpen) resolve(reply.value);
        else discard?.(reply.value, service);
      };
      // After `resolve`, failing only cleans up.
      exchange().then(fail, fail);
    });
  }

  /** Sends what needs no answer. */
  post(send: (service: SessionService) => Promise<void>): void {
    if (this.#failure === undefined) this.#service.then(send).catch(() => undefined);
  }

  release(): void {
    if (--this.#users === 0) this.#close(new UsageError('The session was disposed.'));
  }

  #close(reason: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = reason;
    if (connections.get(this.#key) === this) connections.delete(this.#key);
    for (const fail of this.#pending) fail(reason);
    this.#worker?.terminate();
  }

  #watch(worker: Worker, service: SessionService): void {
    const gone = (how: string): void => {
      this.#close(new WorkerError(`The worker ${how}. Load the session again to go on.`));
    };
    worker.addEventListener('error', (event) => {
      const message = event instanceof ErrorEvent ? event.message : '';
      gone(message === '' ? 'could not be loaded' : `failed: ${message}`);
    });
    worker.addEventListener('messageerror', () => gone('sent a message that cannot be read'));
    // No event tells that a worker was terminated or killed. `terminate` called before the worker
    // has started is seen here; any later end by the lock, which a dead worker gives back.
    const terminate = worker.terminate.bind(worker);
    worker.terminate = () => {
      terminate();
      gone('was terminated');
    };
    const { locks } = navigator;
    if (!locks) return;
    const name = `weft-worker-${crypto.randomUUID()}`;
    service
      .holdLock(name)
      .then(() => locks.request(name, () => gone('stopped')))
      .catch(() => undefined);
  }
}
