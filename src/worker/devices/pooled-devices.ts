import { requested } from '../host/describe-place.ts';
import type { PlaceStores } from '../auto/place-store.ts';
import { type CreateDevice, DevicePool } from './device-pool.ts';
import { fitDevices } from './fit-devices.ts';
import type { DeviceSource } from './opened-devices.ts';

/** The devices of a thread, which sessions share. `places`: what is known of their adapters. */
export const pooledDevices = (
  createDevice: CreateDevice,
  places?: PlaceStores,
  pool = new DevicePool(createDevice, places),
): DeviceSource => ({
  open: async (wanted, options) => {
    const opened =
      wanted === 'auto'
        ? await (await import('../auto/open-auto.ts')).openAuto(pool, options)
        : { main: await pool.acquire(wanted, options), reason: requested(wanted) };
    try {
      // WebAssembly is a host too: what is placed there finds its tensors in the same memory.
      const kind = opened.main.device.kind === 'wasm' ? 'wasm' : 'host';
      return { ...opened, host: await pool.acquire(kind, options) };
    } catch (error) {
      opened.main.release();
      throw error;
    }
  },
  fit: (devices, options, executable) => fitDevices(devices, { pool, options }, executable),
  isBusy: () => pool.isBusy(),
});
