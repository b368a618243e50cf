import type { Device } from '../../../src/device/device.ts';
import { distributorOf } from '../../../src/device/wasm/parts/distributor.ts';
import { sharedThreads } from '../../../src/device/wasm/threads/shared-threads.ts';
import { createWasmDevice } from '../../../src/device/wasm/wasm-device.ts';
import { wasmPartStarter, wasmThreadStarter } from '../../../src/worker/devices/wasm-thread.ts';
import type { ThreadOptions } from '../../parse-threads.ts';

/** The wasm device with threads that share all work, however little it is. */
export function openThreads({ count: threads, isApart }: ThreadOptions): Device {
  if (!isApart) {
    const startThread = wasmThreadStarter();
    return createWasmDevice({
      createThreads: sharedThreads({ threads, startThread, sharesAll: true }),
    });
  }
  const startPart = wasmPartStarter();
  return createWasmDevice({
    createDistributor: distributorOf({ threads, startPart, sharesAll: true }),
  });
}
