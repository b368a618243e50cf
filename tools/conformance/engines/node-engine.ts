import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionProvider } from '../../../src/worker/protocol/session-service.ts';
import { pooledDevices } from '../../../src/worker/devices/pooled-devices.ts';
import { SessionHost } from '../../../src/worker/host/session-host.ts';
import { nodeGpu } from '../../../src/testing/node-gpu.ts';
import type { ThreadOptions } from '../../parse-threads.ts';
import type { FoundCase } from '../find-cases.ts';
import { keepDevice } from '../keep-device.ts';
import { runCase } from '../run-case.ts';
import type { CaseRunner, Engine } from './engine.ts';
import { describeEngine, runOperators } from './engine-program.ts';
import { openThreads } from './wasm-threads.ts';

/** Reads the files of a case from its folder. */
export function caseReader({ folder }: FoundCase): (file: string) => Promise<Uint8Array> {
  return async (file) => new Uint8Array(await readFile(join(folder, file)));
}

/** One device of Dawn in this process. */
export async function openNodeEngine(): Promise<Engine> {
  const gpu = await nodeGpu();
  const keeper = await keepDevice({ device: 'webgpu', worker: false, gpu });
  return {
    title: `Node ${process.versions.node} (Dawn)`,
    describe: () => describeEngine(gpu),
    runOperators: (sample) => runOperators(gpu, sample),
    run: (found) =>
      runCase(found, { device: 'webgpu', worker: false, gpu, read: caseReader(found) }),
    close: () => keeper.dispose(),
  };
}

/** Cases on a processor, or where `auto` puts each, in this process. */
export async function openProcessor(device: 'auto' | 'host' | 'wasm'): Promise<CaseRunner> {
  return {
    title: device === 'auto' ? 'the best device in Node' : `the ${device} device in Node`,
    run: (found) => runCase(found, { device, worker: false, read: caseReader(found) }),
    close: async () => {},
  };
}

/** Cases on one wasm device with threads in this process. */
export async function openThreadRunner(threads: ThreadOptions): Promise<CaseRunner> {
  const device = openThreads(threads);
  const destroy = device.destroy.bind(device);
  // Sessions come and go.
  device.destroy = () => undefined;
  const service = new SessionHost({ devices: pooledDevices(async () => device) });
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
