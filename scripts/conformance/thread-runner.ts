import type { Device } from '../../src/device/device.ts';
import { createWasmDevice } from '../../src/device/wasm/wasm-device.ts';
import type { SessionProvider } from '../../src/worker/protocol/session-service.ts';
import { SessionHost } from '../../src/worker/host/session-host.ts';
import { sharedThreads } from '../../src/device/wasm/threads/shared-threads.ts';
import { distributorOf } from '../../src/device/wasm/parts/distributor.ts';
import { wasmPartStarter, wasmThreadStarter } from '../../src/worker/devices/wasm-thread.ts';
import type { ThreadOptions } from '../parse-threads.ts';
import type { CaseRunner } from './browser-runner.ts';
import { caseReader } from './node-runner.ts';
import { runCase } from './run-case.ts';

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

/** Cases on one such device in this process. */
export async function openThreadRunner(threads: ThreadOptions): Promise<CaseRunner> {
  const device = openThreads(threads);
  const destroy = device.destroy.bind(device);
  // Sessions come and go.
  device.destroy = () => undefined;
  const service = new SessionHost({ createDevice: async () => device });
  const remote: SessionProvider = {
    name: 'threads',
    closed: new Promise(() => undefined),
    openService: async () => service,
  };
  return {
    title: `the wasm device in Node with ${threads.count} threads${threads.isApart ? ' apart' : ''}`,
    run: (found) =>
      runCase(found, { device: 'wasm', worker: false, remote, read: caseReader(found) }),
    close: async () => destroy(),
  };
}
