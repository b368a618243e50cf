import type { Device } from '../../device/device.ts';
import { createWasmDevice, type WasmDeviceOptions } from '../../device/wasm/wasm-device.ts';
import type { PooledOptions } from './device-pool.ts';
import { mayShareMemory, threadCount } from './thread-count.ts';
import { wasmPartStarter, wasmThreadStarter } from './wasm-thread.ts';

/** The device that runs WebAssembly, with its threads. */
export async function openWasm({
  threads: wanted,
  ...options
}: Pick<WasmDeviceOptions, 'operators'> & Pick<PooledOptions, 'threads'>): Promise<Device> {
  const threads = threadCount(wanted);
  if (threads === 1) return createWasmDevice(options);
  if (mayShareMemory()) {
    const { sharedThreads } = await import('../../device/wasm/threads/shared-threads.ts');
    const createThreads = sharedThreads({ threads, startThread: wasmThreadStarter() });
    return createWasmDevice({ ...options, createThreads });
  }
  const { distributorOf } = await import('../../device/wasm/parts/distributor.ts');
  const createDistributor = distributorOf({ threads, startPart: wasmPartStarter() });
  return createWasmDevice({ ...options, createDistributor });
}
