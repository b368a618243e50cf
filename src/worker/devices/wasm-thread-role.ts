import type { FromPart, ToPart } from '../../device/wasm/parts/part-protocol.ts';
import type { ThreadStart } from '../../device/wasm/threads/thread-control.ts';
import type { WorkerFiles } from '../protocol/session-service.ts';

/** The name of a worker that does a part of the work of another one's wasm device. */
export const WASM_THREAD_NAME = 'weft-wasm-thread';

/** The first message to it, and the only one where it shares memory. */
export interface ToWasmThread {
  /** Undefined where it has a memory of its own. */
  readonly start: ThreadStart | undefined;
  /** Addresses of the other files of the package's worker. */
  readonly files: WorkerFiles | undefined;
}

/** Serves in this worker as a thread of the wasm device. */
export function serveAsWasmThread(): void {
  const begin = async ({ data }: MessageEvent<ToWasmThread>): Promise<void> => {
    globalThis.weftFiles = data.files;
    if (data.start === undefined) {
      const { servePart } = await import('../../device/wasm/parts/serve-part.ts');
      servePart({
        post: (message: FromPart, transfer) =>
          globalThis.postMessage(message, { transfer: [...transfer] }),
        onMessage: (take) =>
          globalThis.addEventListener('message', (event: MessageEvent<ToPart>) => take(event.data)),
      });
    } else {
      const { serveThread } = await import('../../device/wasm/threads/serve-thread.ts');
      serveThread(data.start);
    }
  };
  globalThis.addEventListener('message', (event) => void begin(event), { once: true });
}
