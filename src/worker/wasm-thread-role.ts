import type { ThreadStart } from '../device/wasm/threads/thread-control.ts';
import type { WorkerFiles } from './protocol.ts';

/** The name of a worker that does a part of the work of another one's wasm device. */
export const WASM_THREAD_NAME = 'weft-wasm-thread';

/** The only message to it. */
export interface ToWasmThread {
  readonly start: ThreadStart;
  /** Where the other files of the package's worker are. */
  readonly files: WorkerFiles | undefined;
}

/** Whether this worker was started by another one, with the same script, to share work. */
export function isWasmThread(): boolean {
  const { name } = globalThis as { name?: unknown };
  return name === WASM_THREAD_NAME && 'DedicatedWorkerGlobalScope' in globalThis;
}

/** Serves as one. */
export function serveAsWasmThread(): void {
  globalThis.addEventListener('message', ({ data }: MessageEvent<ToWasmThread>) => {
    globalThis.weftFiles = data.files;
    void import('../device/wasm/threads/serve-thread.ts').then(({ serveThread }) =>
      serveThread(data.start),
    );
  });
}
