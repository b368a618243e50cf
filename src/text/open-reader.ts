import { proxy, type Remote, transfer, wrap } from 'comlink';
import { Connection, hasWorkers } from '../client/connection.ts';
import type { PlaceOptions } from '../client/session-options.ts';
import { WorkerError } from '../core/errors.ts';
import type { Reply } from '../worker/protocol/reply.ts';
import type { WorkerService } from '../worker/protocol/session-service.ts';
import type { ReaderCall, ServedReader } from './reader/serve-reader.ts';
import type { TextReader } from './reader/text-reader.ts';

/** Where a reader works: beside the worker of the sessions of these options. */
export type ReaderPlace = Pick<PlaceOptions, 'worker' | 'workerFiles' | 'workerTimeout' | 'remote'>;

type Answer<Name extends ReaderCall> = Awaited<ReturnType<TextReader[Name]>>;

/** A reader of one model's files, in a thread of its own. */
export interface OpenReader {
  /** Asks it. Rejects as its methods do, with the signal's reason, and with WorkerError where the thread is gone. */
  ask<Name extends ReaderCall>(
    name: Name,
    given: Parameters<TextReader[Name]>,
    signal?: AbortSignal,
  ): Promise<Answer<Name>>;
  /** Ends its thread, whatever that does. Idempotent. */
  close(): void;
}

/** Starts a reader: in a thread of the worker's, or without a worker in this one. */
export async function openReader({
  remote,
  worker = hasWorkers(),
  workerFiles,
  workerTimeout,
}: ReaderPlace): Promise<OpenReader> {
  // Files are read on this machine, wherever the model runs.
  const place = remote ? { worker: hasWorkers() } : { worker, workerFiles, workerTimeout };
  if (place.worker === false) return openHere();
  return new RemoteReader(Connection.acquire({ ...place, worker: place.worker }));
}

async function openHere(): Promise<OpenReader> {
  const { TextReader: Reader } = await import('./reader/text-reader.ts');
  const reader = new Reader();
  return {
    async ask<Name extends ReaderCall>(
      name: Name,
      given: Parameters<TextReader[Name]>,
      signal?: AbortSignal,
    ): Promise<Answer<Name>> {
      signal?.throwIfAborted();
      const value = (await Reflect.apply(reader[name], reader, given)) as Answer<Name>;
      signal?.throwIfAborted();
      return value;
    },
    close: () => undefined,
  };
}

class RemoteReader implements OpenReader {
  readonly #connection: Connection;
  readonly #reader: Remote<ServedReader>;
  /** Messages of it end the thread, one to it tells that it is gone. */
  readonly #thread: MessagePort;
  readonly #inFlight = new Set<(reason: unknown) => void>();
  #gone: Error | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
    const [calls, thread] = [new MessageChannel(), new MessageChannel()];
    this.#reader = wrap<ServedReader>(calls.port1);
    this.#thread = thread.port1;
    this.#thread.addEventListener('message', () => {
      const got = 'a thread that ended, perhaps out of memory';
      const where = 'tokenizers and templates';
      this.#end(new WorkerError({ where, got, expected: 'an answer of it' }));
    });
    this.#thread.start();
    connection.post((service) => {
      const ports = [calls.port2, thread.port2] as const;
      const host = service as WorkerService;
      return host.openReader(
        ...(ports.map((port) => transfer(port, [port])) as [MessagePort, MessagePort]),
      );
    });
  }

  async ask<Name extends ReaderCall>(
    name: Name,
    given: Parameters<TextReader[Name]>,
    signal?: AbortSignal,
  ): Promise<Answer<Name>> {
    if (this.#gone) throw this.#gone;
    const passed = given.map((one: unknown) => (typeof one === 'function' ? proxy(one) : one));
    return this.#connection.call(
      async () => (await this.#reader.ask(name, ...passed)) as Reply<Answer<Name>>,
      { signal, inFlight: this.#inFlight },
    );
  }

  close(): void {
    if (this.#gone) return;
    this.#thread.postMessage('end');
    this.#end(new WorkerError('The model was disposed of.'));
    this.#connection.release();
  }

  #end(reason: Error): void {
    this.#gone ??= reason;
    for (const stop of this.#inFlight) stop(reason);
  }
}
