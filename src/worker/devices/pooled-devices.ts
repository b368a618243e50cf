import type { ExecutableData } from '../../bytecode/executable.ts';
import type { GpuDeviceLike, GpuLike } from '../../core/contracts/gpu-like.ts';
import { OutOfMemoryError } from '../../core/errors.ts';
import { MAX_BYTE_LENGTH } from '../../device/wasm/memory/address-space.ts';
import type { PlaceStores } from '../auto/place-store.ts';
import { requested } from '../host/describe-place.ts';
import type { SessionDevices } from '../host/shared-use.ts';
import { plannedBytes } from '../sources/planned-bytes.ts';
import { type CreateDevice, DevicePool } from './device-pool.ts';
import type { DeviceSource, FitOptions, MainDevice } from './opened-devices.ts';
import { withWasmBeside } from './second-device.ts';

interface PoolOptions {
  /** What is known of adapters. */
  readonly places?: PlaceStores | undefined;
  /** WebGPU, where it is not `navigator.gpu`. */
  readonly gpu?: GpuLike | GpuDeviceLike | undefined;
}

/** The devices of a thread, which sessions share. */
export function pooledDevices(
  createDevice: CreateDevice,
  { places, gpu }: PoolOptions = {},
): DeviceSource {
  const pool = new DevicePool(createDevice, places);
  return {
    open: async (wanted, options) => {
      const opened =
        wanted === 'auto'
          ? await (await import('../auto/open-auto.ts')).openAuto(pool, options, gpu)
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
  };
}

interface FitContext {
  readonly pool: DevicePool;
  readonly options: FitOptions;
}

/**
 * The devices that a program needs in place of those that were opened: WebAssembly beside WebGPU. Takes over the devices;
 * after a failure they are still the caller's. Rejects with OutOfMemoryError for constants that no WebAssembly can hold.
 */
export async function fitDevices<T extends SessionDevices & Pick<MainDevice, 'reason'>>(
  devices: T,
  context: FitContext,
  executable: ExecutableData,
): Promise<T> {
  if (devices.main.device.kind !== 'wasm') return withWasmBeside(devices, context, executable);
  const { constants } = plannedBytes(executable);
  // A program beyond the budget fails with any addresses.
  if (Math.min(constants, context.options.byteBudget ?? Infinity) <= MAX_BYTE_LENGTH)
    return devices;
  throw new OutOfMemoryError(
    {
      where: "constants on device 'wasm'",
      got: `${constants} bytes`,
      expected: `at most ${MAX_BYTE_LENGTH}, what addresses of 32 bits reach`,
      remedy: 'Load the program on WebGPU, or with weights of fewer bits.',
    },
    { details: { requestedBytes: constants, limitBytes: MAX_BYTE_LENGTH } },
  );
}
