import type { WasmMemory } from '../memory/wasm-memory.ts';
import { type StartThread, ThreadPool } from './thread-pool.ts';

interface SharedThreadsOptions {
  /** Threads in all, the one of the device included. */
  readonly threads: number;
  readonly startThread: StartThread;
  /**
   * Shares every step that can be shared, from the first run on. Default: where that saves time.
   */
  readonly sharesAll?: boolean | undefined;
  /** Milliseconds that threads may take for their parts when the device's own is done. Default 30,000. */
  readonly patienceMs?: number | undefined;
}

/** Creates threads over the memory of a device, which may be shared. */
export type CreateThreads = (memory: WasmMemory) => ThreadPool;

const PATIENCE_MS = 30_000;

/** To share less work takes longer than to do it. */
const LEAST_SHARED_WORK = 2 ** 17;

/** How a device shares work with threads over its own memory; undefined for one thread. */
export function sharedThreads({
  threads,
  startThread,
  sharesAll = false,
  patienceMs = PATIENCE_MS,
}: SharedThreadsOptions): CreateThreads | undefined {
  if (threads <= 1) return undefined;
  return (memory) =>
    new ThreadPool({
      count: threads - 1,
      startThread,
      isAwaited: sharesAll,
      patienceMs,
      leastSharedWork: sharesAll ? 0 : LEAST_SHARED_WORK,
      memory: memory.memory,
      allocate(byteLength) {
        const buffer = memory.create(byteLength);
        return {
          address: buffer.begin,
          bytes: new Uint8Array(memory.bytes, buffer.begin, byteLength),
          free: () => buffer.destroy(),
        };
      },
    });
}
