import type { StartThread } from '../device/wasm/threads/thread-pool.ts';
import { startOwnThread } from './own-thread.ts';
import { type ToWasmThread, WASM_THREAD_NAME } from './wasm-thread-role.ts';

/** In the package, that of its entry. No bundler must take it for an address of its own. */
const NODE_FILE: string = './wasm-thread-main.ts';

/** How the wasm device of this thread starts others; `nodeFile` is for Node where it is elsewhere. */
export const wasmThreadStarter =
  (nodeFile = NODE_FILE): StartThread =>
  (start, onError) => {
    const role = { name: WASM_THREAD_NAME, nodeFile, isAwaited: false };
    const thread = startOwnThread<ToWasmThread, never>(role, {
      onMessage: () => undefined,
      onError,
    });
    thread?.post({ start, files: globalThis.weftFiles });
    return thread && (() => thread.terminate());
  };
