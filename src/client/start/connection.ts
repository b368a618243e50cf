import { errorFromData, UsageError, WorkerError } from '../../core/errors.ts';
import type { GpuDeviceLike, GpuLike } from '../../core/contracts/gpu-like.ts';
import type { CallId, Reply } from '../../worker/protocol/reply.ts';
import type {
  SessionProvider,
  SessionService,
  WorkerConfig,
  WorkerFiles,
} from '../../worker/protocol/session-service.ts';
import type { ServiceOptions } from '../../worker/create-service.ts';
import {
  FailedStart,
  goneError,
  MAX_TIMER_MS,
  shakeHands,
  type WorkerStart,
} from './shake-hands.ts';
import { SPARE_MEMORY } from '../values/spare-memory.ts';
import { baseUrl } from '../../core/parse-url.ts';
import { importMachine, workerFiles } from './worker-files.ts';

export type Send<T> = (service: SessionService, call: CallId) => Promise<Reply<T>>;

export interface CallOptions<T> {
  readonly signal?: AbortSignal | undefined;
  /**
   * Functions that stop the session's calls in flight; each call adds its own. A signal of the
   * session would do, but Node warns of a leak where more than 10 calls listen to one.
   */
  readonly inFlight?: Set<(reason: unknown) => void> | undefined;
  /** Gets a value that arrives after the call was aborted, to free what it holds. */
  readonly discard?: ((value: T, service: SessionService) => void) | undefined;
}

/** Where sessions run: the shared worker, one of the caller's, this page, or a device of others. */
export interface ConnectionChoice {
  readonly worker: boolean | (() => Worker);
  /** For `worker: false`, also a device of the page's own; default `navigator.gpu`. */
  readonly gpu?: GpuLike | GpuDeviceLike | undefined;
  /** Replaces the operators that Weft has, for `worker: false` and `remote`. */
  readonly operators?: ServiceOptions['operators'];
  readonly importers?: ServiceOptions['importers'];
  /** For `worker: true`: the folder of its files. */
  readonly workerFiles?: string | URL | undefined;
  readonly workerTimeout?: number | undefined;
  /** Instead of all these: on a remote device. */
  readonly remote?: SessionProvider | undefined;
  /** Has a worker for its owner alone, which ends with {@link Connection.release}. */
  readonly owner?: object | undefined;
}

export function hasWorkers(): boolean {
  return typeof Worker === 'function';
}

/** A key of the place where sessions of a choice run: equal for the same place. */
function placeOf({ worker, gpu, workerFiles, remote, owner }: ConnectionChoice): unknown {
  if (owner ?? remote) return owner ?? remote;
  if (worker === false) return gpu ?? false;
  return worker === true && workerFiles !== undefined ? String(workerFiles) : worker;
}

/** The workers of the page: its sessions share them, so no session is their owner. */
const connections = new Set<Connection>();
/** Settings of each place, for connections that are open and those to come. */
const configs = new Map<unknown, WorkerConfig>();
/** How long the worker of a place stays without sessions. */
const idleTimes = new Map<unknown, number>();
const IDLE_MS = 10_000;
/** When a device that had work is asked again. */
const BUSY_MS = 1000;
/** A remote side may be that of several connections, so all calls of a page have different numbers. */
let nextCall = 1;

/**
 * A worker (or this page) with the calls that wait for it. Sessions with the same choice share one;
 * it closes when the last of them goes, a worker only when no other comes for a while.
 */
export class Connection {
  readonly #service: Promise<SessionService>;
  #worker: Worker | undefined;
  /** The worker is started, and may stay. */
  #answers = false;
  readonly #pending = new Set<(error: Error) => void>();
  /** Its place, then the tables that it was opened with. */
  readonly #key: readonly unknown[];
  /** The remote devices that it leads to. */
  readonly remote: ConnectionChoice['remote'];
  readonly #isOwned: boolean;
  #failure: Error | undefined;
  #users = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;
  /**
   * A device of the worker has work. Terminated with work that does not end, the worker would hang the browser's
   * GPU process, so it stays for the sessions to come until the work is done.
   */
  isBusy = false;

  /** The running connection of a choice, or a new one. {@link release} it in the end. */
  static acquire(choice: ConnectionChoice): Connection {
    const key = [placeOf(choice), choice.operators, choice.importers];
    let connection = [...connections].find((known) =>
      key.every((part, i) => part === known.#key[i]),
    );
    if (!connection) {
      connection = new Connection(key, choice);
      connections.add(connection);
      const config = configs.get(key[0]);
      if (config) connection.post((service) => service.configure(config));
    }
    clearTimeout(connection.#idle);
    connection.#users++;
    return connection;
  }

  /** Has the worker of a choice stay so long without sessions, from its next one on. */
  static stayIdle(choice: ConnectionChoice, milliseconds: number): void {
    idleTimes.set(placeOf(choice), milliseconds);
  }

  static configure(choice: ConnectionChoice, config: WorkerConfig): void {
    const place = placeOf(choice);
    configs.set(place, config);
    for (const connection of connections) {
      if (connection.#key[0] === place) connection.post((service) => service.configure(config));
    }
  }

  private constructor(key: readonly unknown[], choice: ConnectionChoice) {
    this.#key = key;
    this.remote = choice.remote;
    this.#isOwned = choice.owner !== undefined;
    this.#service = this.#open(choice).catch((error: Error) => {
      this.#close(error);
      throw error;
    });
    this.#service.catch(() => undefined);
  }

  async #open({ worker, workerFiles, workerTimeout, remote, ...options }: ConnectionChoice) {
    if (remote) return remote.openService(options);
    if (worker === false) {
      return (await importHost(options)).createService(options);
    }
    const service = await openWorker({
      start: worker,
      folder: workerFiles,
      timeoutMs: workerTimeout,
      onStart: (started) => {
        this.#worker = started;
      },
      onGone: (how) => this.#close(goneError(how)),
    });
    this.#answers = true;
    return service;
  }

  /** Rejects with the signal's reason, with the error of the worker, or when the worker is gone. */
  call<T>(send: Send<T>, { signal, inFlight, discard }: CallOptions<T> = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#failure !== undefined) throw this.#failure;
      signal?.throwIfAborted();
      const call = nextCall++;
      let isOpen = true;
      const fail = (reason: unknown): void => {
        isOpen = false;
        this.#pending.delete(fail);
        inFlight?.delete(stop);
        signal?.removeEventListener('abort', abort);
        reject(reason);
      };
      const stop = (reason: unknown): void => {
        fail(reason);
        this.post((service) => service.cancel(call));
      };
      const abort = (): void => stop(signal?.reason);
      this.#pending.add(fail);
      inFlight?.add(stop);
      signal?.addEventListener('abort', abort);
      const exchange = async (): Promise<void> => {
        const service = await this.#service;
        const reply = await send(service, call);
        if (!reply.ok) throw errorFromData(reply.error);
        if (reply.spares) SPARE_MEMORY.keep(reply.spares);
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
    if (--this.#users > 0) return;
    const idleMs = this.#answers && !this.#isOwned ? (idleTimes.get(this.#key[0]) ?? IDLE_MS) : 0;
    if (this.isBusy) this.#closeIn(Math.max(idleMs, BUSY_MS));
    else if (idleMs === 0) this.#closeIdle();
    else this.#closeIn(idleMs);
  }

  #closeIn(milliseconds: number): void {
    this.#idle = setTimeout(
      () => void this.#closeUnlessBusy(),
      Math.min(milliseconds, MAX_TIMER_MS),
    );
    // Node waits for no worker that only might be used again.
    (this.#idle as { unref?: () => void }).unref?.();
  }

  /** A device that was slow, not stuck, is done some time later. */
  async #closeUnlessBusy(): Promise<void> {
    if (this.isBusy) {
      // Of no session: only whether devices have work.
      this.isBusy = await this.call((service, call) => service.dispose(call, 0)).catch(() => false);
    }
    if (this.#users > 0) return;
    if (this.isBusy) this.#closeIn(BUSY_MS);
    else this.#closeIdle();
  }

  #closeIdle(): void {
    this.#close(new UsageError('The session was disposed.'));
  }

  #close(reason: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = reason;
    clearTimeout(this.#idle);
    connections.delete(this);
    for (const fail of this.#pending) fail(reason);
    this.#worker?.terminate();
  }
}

async function importHost(options: ServiceOptions) {
  try {
    return await importMachine(options);
  } catch (cause) {
    if (cause instanceof WorkerError) throw cause;
    throw new WorkerError(
      'This thread cannot load the machine. Check that all files of weft-vm are served.',
      { cause },
    );
  }
}

/**
 * Starts a worker and greets it. Rejects with a WorkerError that says why it cannot be had: no such
 * file, a policy that forbids it, no answer in time, another program, another version.
 */
async function openWorker(options: WorkerStart): Promise<SessionService> {
  let files: WorkerFiles | undefined;
  try {
    files = filesIn(options.folder);
    return await shakeHands(files, options);
  } catch (thrown) {
    if (thrown instanceof WorkerError || thrown instanceof UsageError) throw thrown;
    const { recoverWorker } = await import('./recover-worker.ts');
    const failure =
      thrown instanceof FailedStart ? thrown.why : { kind: 'thrown' as const, cause: thrown };
    return recoverWorker(failure, files, options);
  }
}

/**
 * Addresses of the package's files, or of the first of the copies in a folder, where the worker
 * looks for the others.
 */
function filesIn(folder: string | URL | undefined): WorkerFiles | undefined {
  if (folder === undefined) return workerFiles();
  const { href } = new URL(folder, baseUrl());
  return { main: `${href.replace(/\/?$/, '/')}weft-worker.js` };
}
