import type { Device } from '../device/device.ts';
import { createWasmDevice, type WasmDeviceOptions } from '../device/wasm/wasm-device.ts';
import type { PooledOptions } from './device-pool.ts';
import { threadCount } from './thread-count.ts';
import { wasmThreadStarter } from './wasm-thread.ts';

/** The device that runs WebAssembly, with its threads. */
export function openWasm({
  operators,
  threads,
}: Pick<WasmDeviceOptions, 'operators'> & PooledOptions): Device {
  const startThread = wasmThreadStarter();
  return createWasmDevice({ operators, threads: threadCount(threads), startThread });
}
