import { fileURLToPath, pathToFileURL } from 'node:url';
import type { StartThread } from '../src/device/wasm/threads/thread-pool.ts';
import { wasmThreadStarter } from '../src/worker/wasm-thread.ts';
import { builtEntry } from './run-ts/built-entry.mjs';

/** Threads of the wasm device from the sources, which Node does not run: from a build of them. */
export async function nodeThreads(): Promise<StartThread> {
  const entry = fileURLToPath(new URL('../src/worker/wasm-thread-main.ts', import.meta.url));
  return wasmThreadStarter(pathToFileURL(await builtEntry(entry)).href);
}
