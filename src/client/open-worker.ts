import { UsageError, WorkerError } from '../core/errors.ts';
import { baseUrl } from '../core/parse-url.ts';
import type { SessionService, WorkerFiles } from '../worker/protocol/session-service.ts';
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

/**
 * Addresses of the package's files, or of the first of the copies in a folder, where the worker
 * looks for the others.
 */
function filesIn(folder: string | URL | undefined): WorkerFiles | undefined {
  if (folder === undefined) return workerFiles();
  const { href } = new URL(folder, baseUrl());
  return { main: `${href.replace(/\/?$/, '/')}weft-worker.js` };
}
