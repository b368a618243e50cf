import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import type { CaseRunner } from './browser-runner.ts';
import type { FoundCase } from './find-cases.ts';
import { keepDevice } from './keep-device.ts';
import { runCase } from './run-case.ts';

/** Reads the files of a case from its folder. */
export function caseReader({ folder }: FoundCase): (file: string) => Promise<Uint8Array> {
  return async (file) => new Uint8Array(await readFile(join(folder, file)));
}

/** Cases on a processor, with one device of Dawn, or where `auto` puts each, in this process. */
export async function openNodeRunner(
  device: 'auto' | 'host' | 'wasm' | 'dawn',
): Promise<CaseRunner> {
  if (device !== 'dawn') {
    return {
      title: device === 'auto' ? 'the best device in Node' : `the ${device} device in Node`,
      run: (found) => runCase(found, { device, worker: false, read: caseReader(found) }),
      close: async () => {},
    };
  }
  const gpu = await nodeGpu();
  const keeper = await keepDevice({ device: 'webgpu', worker: false, gpu });
  return {
    title: `WebGPU (${keeper.device.name}) in Node`,
    run: (found) =>
      runCase(found, { device: 'webgpu', worker: false, gpu, read: caseReader(found) }),
    close: () => keeper.dispose(),
  };
}
