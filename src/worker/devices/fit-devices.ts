import type { ExecutableData } from '../../bytecode/executable.ts';
import { DeviceError, OutOfMemoryError } from '../../core/errors.ts';
import { MAX_BYTE_LENGTH } from '../../device/wasm/memory/address-space.ts';
import type { DevicePool, SharedDevice } from './device-pool.ts';
import type { FitOptions, MainDevice } from './opened-devices.ts';
import { plannedBytes } from '../sources/planned-bytes.ts';
import { withWasmBeside } from './second-device.ts';
import type { SessionDevices } from '../host/shared-use.ts';

interface FitContext {
  readonly pool: DevicePool;
  readonly options: FitOptions;
}

/**
 * The devices that a program needs in place of those that were opened: WebAssembly beside WebGPU, or with
 * addresses of 64 bits. Takes over the devices; after a failure they are still the caller's.
 */
export function fitDevices<T extends SessionDevices & Pick<MainDevice, 'reason'>>(
  devices: T,
  context: FitContext,
  executable: ExecutableData,
): Promise<T> {
  const { kind } = devices.main.device;
  return (kind === 'wasm' ? withMemory64 : withWasmBeside)(devices, context, executable);
}

/**
 * Memory of more than 4 GiB, for a program whose constants and planned storages need it. Where the engine
 * has none, rejects with OutOfMemoryError for constants that cannot fit; storages may not all be in use at
 * one time.
 */
async function withMemory64<T extends SessionDevices & Pick<MainDevice, 'reason'>>(
  devices: T,
  { pool, options }: FitContext,
  executable: ExecutableData,
): Promise<T> {
  const { constants, storages } = plannedBytes(executable);
  // A program beyond the budget fails with any addresses.
  if (Math.min(constants + storages, options.byteBudget ?? Infinity) <= MAX_BYTE_LENGTH)
    return devices;
  const wide = { ...options, memory64: true };
  const acquired: SharedDevice[] = [];
  try {
    const main = await pool.acquire('wasm', wide);
    acquired.push(main);
    const host = await pool.acquire('wasm', wide);
    devices.main.release();
    devices.host.release();
    return { ...devices, main, host, reason: `${devices.reason} It needs addresses of 64 bits.` };
  } catch (cause) {
    for (const device of acquired) device.release();
    if (!(cause instanceof DeviceError)) throw cause;
    if (constants <= MAX_BYTE_LENGTH) return devices;
    throw new OutOfMemoryError(
      {
        where: "constants on device 'wasm'",
        got: `${constants} bytes`,
        expected: `at most ${MAX_BYTE_LENGTH}, what addresses of 32 bits reach`,
        remedy: cause.message,
      },
      { cause, details: { requestedBytes: constants, limitBytes: MAX_BYTE_LENGTH } },
    );
  }
}
