import { WorkerError } from '../../core/errors.ts';
import { once } from '../../core/once.ts';
import type { SessionService, WorkerFiles } from '../../worker/protocol/session-service.ts';
import { explainStart } from './explain-start.ts';
import { FailedStart, shakeHands, type StartFailure, type WorkerStart } from './shake-hands.ts';
import { blobsOf } from './start-worker.ts';
import { importTexts } from './worker-files.ts';

/**
 * Files for the workers of all connections: a `blob:` address stays, since the worker's files load
 * later.
 */
const blobFiles = once(async (): Promise<WorkerFiles> => blobsOf(await importTexts()));

/**
 * Starts the package's worker from its text where a bundler left its file behind. Rejects with a
 * WorkerError that explains the failure.
 */
export async function recoverWorker(
  failure: StartFailure,
  files: WorkerFiles | undefined,
  options: WorkerStart,
): Promise<SessionService> {
  const isAbsent = failure.kind === 'thrown' || failure.kind === 'not loaded';
  if (!isAbsent || options.start !== true || options.folder !== undefined) {
    throw await explainStart(failure, files?.main, options);
  }
  try {
    return await shakeHands(await blobFiles(), options);
  } catch (second) {
    if (second instanceof WorkerError) throw second;
    const isSilent = second instanceof FailedStart && second.why.kind === 'no answer';
    throw await explainStart(isSilent ? second.why : failure, files?.main, options);
  }
}
