import type { FromPart, StartPart, ToPart } from '../../device/wasm/parts/part-protocol.ts';
import type { StartThread } from '../../device/wasm/threads/thread-pool.ts';
import { startOwnThread } from './own-thread.ts';
import { type ToWasmThread, WASM_THREAD_NAME } from './wasm-thread-role.ts';

/**
 * The thread's file in Node; in the package, that of its entry. No bundler must take it for an
 * address of its own.
 */
const NODE_FILE: string = '../wasm-thread-main.ts';

const roleOf = (nodeFile: string) => ({ name: WASM_THREAD_NAME, nodeFile, isAwaited: false });

/** How the wasm device of this thread starts others; `nodeFile` is for Node where it is elsewhere. */
export const wasmThreadStarter =
  (nodeFile = NODE_FILE): StartThread =>
  (start, onError) => {
    const thread = startOwnThread<ToWasmThread, never>(roleOf(nodeFile), {
      onMessage: () => undefined,
      onError,
    });
    thread?.post({ start, files: globalThis.weftFiles });
    return thread && (() => thread.terminate());
  };

/** How it starts those that have memories of their own. */
export const wasmPartStarter =
  (nodeFile = NODE_FILE): StartPart =>
  (events) => {
    const thread = startOwnThread<ToWasmThread | ToPart, FromPart>(roleOf(nodeFile), events);
    thread?.post({ start: undefined, files: globalThis.weftFiles });
    return thread;
  };
