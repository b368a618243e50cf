import type { Device } from '../device/device.ts';
import { createWasmDevice, type WasmDeviceOptions } from '../device/wasm/wasm-device.ts';
import type { PooledOptions } from './device-pool.ts';
import { mayShareMemory, threadCount } from './thread-count.ts';
import { wasmPartStarter, wasmThreadStarter } from './wasm-thread.ts';

/** The device that runs WebAssembly, with its threads. */
export async function openWasm({
  operators,
  threads: wanted,
}: Pick<WasmDeviceOptions, 'operators'> & PooledOptions): Promise<Device> {
  const threads = threadCount(wanted);
  if (threads === 1 || mayShareMemory()) {
    return createWasmDevice({ operators, threads, startThread: wasmThreadStarter() });
  }
  const { distributorOf } = await import('../device/wasm/parts/distributor.ts');
  const createDistributor = distributorOf({ threads, startPart: wasmPartStarter() });
  return createWasmDevice({ operators, createDistributor });
}
