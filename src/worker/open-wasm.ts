import type { Device } from '../device/device.ts';
import { createWasmDevice, type WasmDeviceOptions } from '../device/wasm/wasm-device.ts';
import { threadCount } from './thread-count.ts';
import { wasmThreadStarter } from './wasm-thread.ts';

/** The device that runs WebAssembly, with its threads; with addresses of 64 bits it has none. */
export function openWasm({
  threads,
  ...options
}: Pick<WasmDeviceOptions, 'operators' | 'threads' | 'memory64'>): Device {
  const startThread = wasmThreadStarter();
  return createWasmDevice({ ...options, threads: threadCount(threads), startThread });
}
