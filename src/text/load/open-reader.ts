import { proxy } from 'comlink';
import { Connection, hasWorkers } from '../../client/start/connection.ts';
import type { PlaceOptions } from '../../client/session-options.ts';
import type { Reply } from '../../worker/protocol/reply.ts';
import type { WorkerService } from '../../worker/protocol/session-service.ts';
import type { TextReader } from '../../frontend/decoders/reader/text-reader.ts';

/** Where a reader works. */
export type ReaderPlace = Pick<PlaceOptions, 'worker' | 'workerFiles' | 'workerTimeout' | 'remote'>;

type ReaderCall = {
  [Name in keyof TextReader]: TextReader[Name] extends (...given: never[]) => unknown
    ? Name
    : never;
}[keyof TextReader];

type Answer<Name extends ReaderCall> = Awaited<ReturnType<TextReader[Name]>>;

/** A reader of one model's files, in a thread of its own. */
export interface OpenReader {
  /** Asks it. Rejects as its methods do, with the signal's reason, with WorkerError where its worker is gone, and UsageError once it is closed. */
  ask<Name extends ReaderCall>(
    name: Name,
    given: Parameters<TextReader[Name]>,
    signal?: AbortSignal,
  ): Promise<Answer<Name>>;
  /** Ends its thread, whatever that does. Idempotent. */
  close(): void;
}

/** Starts a reader: in a worker of its own, as a session's is started, or without workers in this thread. */
export async function openReader({
  remote,
  worker = hasWorkers(),
  workerFiles,
  workerTimeout,
}: ReaderPlace): Promise<OpenReader> {
  // Files are read on this machine, wherever the model runs.
  const place = remote ? { worker: hasWorkers() } : { worker, workerFiles, workerTimeout };
  if (place.worker === false) return openHere();
  return new RemoteReader(Connection.acquire({ ...place, worker: place.worker, owner: {} }));
}

async function openHere(): Promise<OpenReader> {
  const { TextReader: Reader } = await import('../../frontend/decoders/reader/text-reader.ts');
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
  #isClosed = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  ask<Name extends ReaderCall>(
    name: Name,
    given: Parameters<TextReader[Name]>,
    signal?: AbortSignal,
  ): Promise<Answer<Name>> {
    const passed = given.map((one: unknown) => (typeof one === 'function' ? proxy(one) : one));
    return this.#connection.call(
      (service) =>
        (service as WorkerService).readText(name, ...passed) as Promise<Reply<Answer<Name>>>,
      { signal },
    );
  }

  close(): void {
    if (!this.#isClosed) this.#connection.release();
    this.#isClosed = true;
  }
}
