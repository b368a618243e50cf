import { fileURLToPath, pathToFileURL } from 'node:url';
import type { StartPart } from '../src/device/wasm/parts/part-protocol.ts';
import type { StartThread } from '../src/device/wasm/threads/thread-pool.ts';
import { wasmPartStarter, wasmThreadStarter } from '../src/worker/wasm-thread.ts';
import { builtEntry } from './run-ts/built-entry.mjs';

/** Threads of the wasm device from the sources, which Node does not run: from a build of them. */
export async function nodeThreads(): Promise<StartThread> {
  return wasmThreadStarter(await builtFile());
}

/** Those that have memories of their own. */
export async function nodeParts(): Promise<StartPart> {
  return wasmPartStarter(await builtFile());
}

async function builtFile(): Promise<string> {
  const entry = fileURLToPath(new URL('../src/worker/wasm-thread-main.ts', import.meta.url));
  return pathToFileURL(await builtEntry(entry)).href;
}
