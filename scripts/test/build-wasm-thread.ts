import { fileURLToPath, pathToFileURL } from 'node:url';
import type { TestProject } from 'vitest/node';
import { builtEntry } from '../run-ts/built-entry.mjs';

const entry = fileURLToPath(new URL('../../src/worker/wasm-thread-main.ts', import.meta.url));

async function build(): Promise<void> {
  process.env.WEFT_WASM_THREAD = pathToFileURL(await builtEntry(entry)).href;
}

/** Set-up of vitest: builds the thread of the wasm device, and says to the tests' processes where. */
export async function setup(project: Pick<TestProject, 'onTestsRerun'>): Promise<void> {
  await build();
  project.onTestsRerun(build);
}
