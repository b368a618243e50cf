import type { DeviceLostError } from '../../core/errors.ts';
import { untilAborted } from '../../core/async/until-aborted.ts';
import type { Device } from '../../device/device.ts';
import type { PlaceStores } from '../auto/place-store.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import { threadCount } from './thread-count.ts';

/** How a device is made, where there is none yet. */
export interface PooledOptions {
  readonly deviceTimeout?: number | undefined;
  /** Threads of a `wasm` device; see `threadCount`. */
  readonly threads?: number | undefined;
}

/** Makes a device. Rejects with DeviceError when there is none. */
export type CreateDevice = (kind: DeviceKind, options: PooledOptions) => Promise<Device>;

/** One device per kind and number of threads, made when first asked for and destroyed with its last user. */
export class DevicePool {
  readonly #create: CreateDevice;
  readonly #devices = new Map<string, Promise<SharedDevice>>();
  /** Devices that had work when they were looked at, or may have had since. */
  readonly #opened = new Set<SharedDevice>();
  readonly #places: PlaceStores;

  /** `places`: what was measured of its adapters. */
  constructor(create: CreateDevice, places: PlaceStores = new Map()) {
    this.#create = create;
    this.#places = places;
  }

  /** A device to {@link SharedDevice.release} in the end. A lost one is never given out again. */
  async acquire(kind: DeviceKind, requested: PooledOptions = {}): Promise<SharedDevice> {
    const threads = kind === 'wasm' ? threadCount(requested.threads) : 1;
    const options = { deviceTimeout: requested.deviceTimeout, threads };
    const key = `${kind} ${threads}`;
    const known = this.#devices.get(key) ?? this.#open(kind, options);
    this.#devices.set(key, known);
    try {
      const shared = await known;
      if (shared.isUsable()) {
        shared.retain();
        return shared;
      }
    } catch (error) {
      this.#forget(key, known);
      throw error;
    }
    this.#forget(key, known);
    return this.acquire(kind, requested);
  }

  /**
   * Returns true if a device that was given out has work, also one that was lost or destroyed
   * since.
   */
  isBusy(): boolean {
    for (const shared of this.#opened) {
      if (shared.device.queue?.isBusy() === true) return true;
      if (!shared.isUsable()) this.#opened.delete(shared);
    }
    return false;
  }

  async #open(kind: DeviceKind, options: PooledOptions): Promise<SharedDevice> {
    this.isBusy();
    const shared = new SharedDevice(await this.#create(kind, options), this.#places);
    this.#opened.add(shared);
    return shared;
  }

  #forget(key: string, known: Promise<SharedDevice>): void {
    if (this.#devices.get(key) === known) this.#devices.delete(key);
  }
}

/** A device with its users and the work they have under way. */
export class SharedDevice {
  readonly device: Device;
  readonly places: PlaceStores;
  /** How often work began on the device so far. */
  useCount = 0;
  #users = 0;
  #isDestroyed = false;
  #lost: DeviceLostError | undefined;
  readonly #waiting = new Set<(error: Error) => void>();
  readonly #active = new Set<Promise<unknown>>();
  #exclusive: Promise<unknown> = Promise.resolve();

  constructor(device: Device, places: PlaceStores = new Map()) {
    this.device = device;
    this.places = places;
    void this.#watch();
  }

  async #watch(): Promise<void> {
    const error = await this.device.lost;
    this.#lost = error;
    for (const reject of this.#waiting) reject(error);
  }

  isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  isUsable(): boolean {
    return this.#lost === undefined && !this.#isDestroyed;
  }

  retain(): void {
    this.#users++;
  }

  release(): void {
    if (--this.#users > 0) return;
    this.#isDestroyed = true;
    this.device.destroy();
  }

  /** Work that may overlap with that of others. Rejects at once when the device is lost. */
  share<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#track(untilAborted(this.#exclusive, signal).then(work));
  }

  /** Work that waits for all other work of the device and then keeps it out. */
  exclude<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const earlier = this.#exclusive;
    const before = Promise.allSettled([earlier, ...this.#active]);
    const mine = untilAborted(before, signal).then(work);
    // Without the results, or each would keep the one before it.
    this.#exclusive = Promise.allSettled([earlier, mine]).then(() => undefined);
    return this.#track(mine);
  }

  /** Rejects at once when the device is lost, whatever the work does. */
  guard<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.useCount++;
      this.#waiting.add(reject);
      if (this.#lost !== undefined) reject(this.#lost);
      work.then(resolve, reject).finally(() => this.#waiting.delete(reject));
    });
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#active.add(work);
    return this.guard(work.finally(() => this.#active.delete(work)));
  }
}
