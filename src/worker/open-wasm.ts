import type { Device } from '../device/device.ts';
import { createWasmDevice, type WasmDeviceOptions } from '../device/wasm/wasm-device.ts';
import type { PooledOptions } from './device-pool.ts';
import { threadCount } from './thread-count.ts';
import { wasmThreadStarter } from './wasm-thread.ts';

/** The device that runs WebAssembly, with its threads or with addresses of 64 bits. */
export async function openWasm({
  operators,
  threads,
  memory64,
}: Pick<WasmDeviceOptions, 'operators'> & PooledOptions): Promise<Device> {
  if (memory64) {
    const { MEMORY64 } = await import('../device/wasm/memory64.ts');
    return createWasmDevice({ operators, memory64: MEMORY64 });
  }
  const startThread = wasmThreadStarter();
  return createWasmDevice({ operators, threads: threadCount(threads), startThread });
}
