import { wasmPartStarter, wasmThreadStarter } from '../../../worker/devices/wasm-thread.ts';
import type { StartPart } from '../parts/part-protocol.ts';
import type { StartThread } from '../threads/thread-pool.ts';

/** Threads of the wasm device in Node, which does not run the sources: from a build of them. */
export const nodeThreads = (): StartThread => wasmThreadStarter(builtThread());

/** Those that have memories of their own. */
export const nodeParts = (): StartPart => wasmPartStarter(builtThread());

/** The address of the thread's build, which `scripts/test/build-wasm-thread.ts` makes before the tests. */
function builtThread(): string {
  const address = process.env.WEFT_WASM_THREAD;
  if (address === undefined) {
    throw new Error('got no WEFT_WASM_THREAD, expected what the set-up of vitest writes there');
  }
  return address;
}
