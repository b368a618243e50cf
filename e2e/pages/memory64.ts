import { Session, type SessionDevice, Tensor } from '../../src/client/index.ts';
import { compile } from '../../src/compiler/compile.ts';
import { parseModule } from '../../src/compiler/index.ts';
import { askWorker } from './ask-worker.ts';
import type { Memory64Findings } from './memory64-worker.ts';

/**
 * Two functions, of which `main`, for which nobody asks, plans more than 4 GiB: four results of
 * 1.6 GB. One of them takes the place of the input, so three would need 3.2 GB beside the input.
 */
const PROGRAM = `
def @main(%x: Tensor[(400000000,), float32]) { (exp(%x), neg(%x), sqrt(%x), abs(%x)) }
def @small(%x: Tensor[(3,), float32]) { add(%x, %x) }`;

export interface Memory64Run {
  readonly device: SessionDevice;
  readonly result: readonly number[];
}

/** The page's interface to the tests. */
const page = {
  operators(): Promise<Memory64Findings> {
    const worker = new Worker(new URL('./memory64-worker.ts', import.meta.url), { type: 'module' });
    return askWorker(worker, 'start');
  },
  async run(): Promise<Memory64Run> {
    const bytes = compile(parseModule(PROGRAM)).toBytes();
    const session = await Session.load(bytes, { device: 'wasm' });
    const x = new Tensor('float32', Float32Array.of(1, 2, 3), [3]);
    const results = await session.run({ x }, { function: 'small' });
    await session.dispose();
    const data = Object.values(results).flatMap((tensor) => Array.from(tensor?.data ?? [], Number));
    return { device: session.device, result: data };
  },
};

export type Memory64Page = typeof page;

Object.assign(globalThis, { weftMemory64: page });
document.documentElement.dataset['ready'] = 'true';
