import type { ExecutableData } from '../../bytecode/executable.ts';
import { requested } from '../host/describe-place.ts';
import type { DeviceKind } from '../protocol/loaded-session.ts';
import type { DevicePool, PooledOptions } from './device-pool.ts';
import { fitDevices } from './fit-devices.ts';
import type { DeviceSource, FitOptions, OpenedDevices } from './opened-devices.ts';

/** The devices of a thread, which sessions share. */
export class PooledDevices implements DeviceSource {
  readonly #pool: DevicePool;

  constructor(pool: DevicePool) {
    this.#pool = pool;
  }

  async open(wanted: DeviceKind | 'auto', options: PooledOptions): Promise<OpenedDevices> {
    const opened =
      wanted === 'auto'
        ? await (await import('../auto/open-auto.ts')).openAuto(this.#pool, options)
        : { main: await this.#pool.acquire(wanted, options), reason: requested(wanted) };
    try {
      // WebAssembly is a host too: what is placed there finds its tensors in the same memory.
      const kind = opened.main.device.kind === 'wasm' ? 'wasm' : 'host';
      return { ...opened, host: await this.#pool.acquire(kind, options) };
    } catch (error) {
      opened.main.release();
      throw error;
    }
  }

  fit<T extends OpenedDevices>(
    devices: T,
    options: FitOptions,
    executable: ExecutableData,
  ): Promise<T> {
    return fitDevices(devices, { pool: this.#pool, options }, executable);
  }

  isBusy(): boolean {
    return this.#pool.isBusy();
  }
}
