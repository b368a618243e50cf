import type { NatsConnection } from '@nats-io/nats-core';
import { type ObjectStore, Objm } from '@nats-io/obj';
import { sha256 } from '../executable-store.ts';

const BUCKET = 'weft-executables';

/** Executables by SHA-256 in an object store of the broker, so that each is sent there once. */
export class ExecutableObjects {
  readonly #nats: NatsConnection;
  #opened: Promise<ObjectStore | undefined> | undefined;

  constructor(nats: NatsConnection) {
    this.#nats = nats;
  }

  /**
   * The bytes of a hash; undefined when they are not there, are others, or are more than the limit.
   * A broker without JetStream has none.
   */
  async get(hash: string, maxByteLength: number): Promise<Uint8Array | undefined> {
    const store = await this.#open();
    const info = await store?.info(hash).catch(() => undefined);
    if (store === undefined || info === undefined || info === null || info.deleted)
      return undefined;
    if (info.size > maxByteLength) return undefined;
    const bytes = await store.getBlob(hash).catch(() => undefined);
    if (bytes === undefined || bytes === null || (await sha256(bytes)) !== hash) return undefined;
    return bytes;
  }

  /**
   * Stores an executable that is not there yet. Resolves to true if the store has it afterwards.
   */
  async put(hash: string, bytes: Uint8Array): Promise<boolean> {
    const store = await this.#open();
    if (store === undefined) return false;
    const known = await store.info(hash).catch(() => null);
    if (known !== null && !known.deleted && known.size === bytes.byteLength) return true;
    return store.putBlob({ name: hash }, bytes).then(
      () => true,
      () => false,
    );
  }

  /** Takes an executable out again. */
  async delete(hash: string): Promise<void> {
    await (await this.#open())?.delete(hash).catch(() => undefined);
  }

  #open(): Promise<ObjectStore | undefined> {
    if (this.#nats.info?.jetstream !== true) return Promise.resolve(undefined);
    this.#opened ??= new Objm(this.#nats).create(BUCKET).catch(() => {
      // Perhaps the stream was not ready: the next one asks again.
      this.#opened = undefined;
      return undefined;
    });
    return this.#opened;
  }
}
