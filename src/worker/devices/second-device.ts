import type { ExecutableData } from '../../bytecode/executable.ts';
import { DeviceError } from '../../core/errors.ts';
import { returnsTensor } from '../../core/contracts/returns-tensor.ts';
import type { DevicePool, PooledOptions } from './device-pool.ts';
import type { SessionDevices } from '../host/shared-use.ts';

/**
 * WebAssembly in place of the host beside WebGPU, where a program has kernels that WebGPU cannot run. The host
 * stays where the engine lacks WebAssembly or a policy forbids it. Takes over the devices; after a failure they
 * are still the caller's.
 */
export async function withWasmBeside<T extends SessionDevices>(
  devices: T,
  { pool, options }: { readonly pool: DevicePool; readonly options: PooledOptions },
  { primitives }: ExecutableData,
): Promise<T> {
  // References alone make results of sizes that nobody knows before.
  const isNeeded = primitives.some((one) => one.device === 'host' && !returnsTensor(one));
  if (devices.main.device.kind !== 'webgpu' || !isNeeded) return devices;
  try {
    const host = await pool.acquire('wasm', options);
    devices.host.release();
    return { ...devices, host };
  } catch (error) {
    if (error instanceof DeviceError) return devices;
    throw error;
  }
}
