import { UsageError, WorkerError } from '../core/errors.ts';
import type { SessionService, WorkerFiles } from '../worker/protocol.ts';
import { FailedStart, shakeHands, type WorkerStart } from './shake-hands.ts';
import { workerFiles } from './worker-files.ts';

/**
 * Starts a worker and greets it. Rejects with a WorkerError that says why it cannot be had: no such
 * file, a policy that forbids it, no answer in time, another program, another version.
 */
export async function openWorker(options: WorkerStart): Promise<SessionService> {
  let files: WorkerFiles | undefined;
  try {
    files = filesIn(options.folder);
    return await shakeHands(files, options);
  } catch (thrown) {
    if (thrown instanceof WorkerError || thrown instanceof UsageError) throw thrown;
    const { recoverWorker } = await import('./recover-worker.ts');
    const failure =
      thrown instanceof FailedStart ? thrown.why : { kind: 'thrown' as const, cause: thrown };
    return recoverWorker(failure, files, options);
  }
}

/** Names of the files that a worker loads when it needs them. */
const OTHERS = 'webgpu wasm rare threads kernels formats extras compiler'.split(' ');

/** Of the package, or copies of them in a folder. */
function filesIn(folder: string | URL | undefined): WorkerFiles | undefined {
  if (folder === undefined) return workerFiles();
  const base = globalThis.document?.baseURI ?? globalThis.location?.href;
  const { href } = new URL(folder, base);
  const path = `${href.replace(/\/?$/, '/')}weft-worker`;
  const others = OTHERS.map((name) => [name, `${path}-${name}.js`]);
  return { main: `${path}.js`, ...Object.fromEntries(others) };
}
