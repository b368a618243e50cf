import { WorkerError } from '../../core/errors.ts';
import { once } from '../../core/once.ts';
import type { SessionService, WorkerFiles } from '../../worker/protocol/session-service.ts';
import {
  FailedStart,
  shakeHands,
  type StartFailure,
  type WorkerStart,
  WORKER_TIMEOUT_MS,
} from './shake-hands.ts';
import { blobsOf, startWorker } from './start-worker.ts';
import { importTexts } from './worker-files.ts';
import { isServiceWorker } from '../../core/require-import.ts';
import { VERSION } from '../../core/version.ts';

/** Events of a refusal come within it. */
const REFUSAL_MS = 500;
/** A server that does not answer explains nothing. */
const FETCH_MS = 5000;

const COPY =
  "Copy the folder dist/worker of weft-vm to the page's origin and pass its address to Session.load as workerFiles.";

/** A fault, as the parts of a message. */
interface Finding {
  readonly reason: string;
  readonly got: string;
  readonly remedy: string;
}

/** Why a worker cannot be had: the error with its address, cause and remedy. */
async function explainStart(
  failure: StartFailure,
  main: string | undefined,
  { start, timeoutMs = WORKER_TIMEOUT_MS }: WorkerStart,
): Promise<WorkerError> {
  const address = start === true ? main : undefined;
  const { reason, got, remedy } =
    findingOf(failure, timeoutMs) ??
    (start === true ? await inspectOwn(address) : inspectGiven(failure));
  const where = address === undefined ? 'worker' : `worker ${address}`;
  const complaint = { where, got, expected: `the worker of weft-vm ${VERSION}`, remedy };
  const details = { reason, ...(address === undefined ? {} : { url: address }) };
  const cause = failure.kind === 'thrown' ? failure.cause : undefined;
  return new WorkerError(complaint, { details, cause });
}

function findingOf(failure: StartFailure, timeoutMs: number): Finding | undefined {
  if (isServiceWorker()) {
    return {
      reason: 'no workers',
      got: 'a service worker, which starts no workers of its own',
      remedy: 'Leave worker and workerFiles out: the session then runs in this thread.',
    };
  }
  if (failure.kind === 'no answer') {
    return {
      reason: failure.kind,
      got: `no answer within ${timeoutMs} ms`,
      remedy:
        'Your own worker must call serve() of weft-vm/worker at the top of its module; if files load slowly, raise workerTimeout.',
    };
  }
  if (failure.kind === 'other version') {
    const { version } = failure;
    return {
      reason: failure.kind,
      got:
        version === undefined ? 'a worker that does not know the handshake' : `that of ${version}`,
      remedy:
        'Take page and worker from the same installation of weft-vm, and clear caches after an update.',
    };
  }
  return undefined;
}

/** A worker of the caller's, whose address is not known here. */
function inspectGiven(failure: StartFailure): Finding {
  const isThrown = failure.kind === 'thrown';
  return {
    reason: 'not loaded',
    got: isThrown
      ? `the error "${textOf(failure.cause)}"`
      : 'one whose file or import is missing or refused',
    remedy: 'Check the address that your worker function starts, and the policy of the page.',
  };
}

async function inspectOwn(address: string | undefined): Promise<Finding> {
  if (address === undefined) {
    return { reason: 'no address', got: 'a bundle without import.meta.url', remedy: COPY };
  }
  return (
    (await inspectPolicy(address)) ??
    (await inspectFile(address)) ?? {
      reason: 'not loaded',
      got: 'a file that this browser does not run as a worker',
      remedy: COPY,
    }
  );
}

/** Starts the worker once more and listens to what the page's policy says. */
async function inspectPolicy(address: string): Promise<Finding | undefined> {
  const refusals: SecurityPolicyViolationEvent[] = [];
  const record = (event: SecurityPolicyViolationEvent): void => void refusals.push(event);
  const target: EventTarget = globalThis.document ?? globalThis;
  target.addEventListener('securitypolicyviolation', record as EventListener);
  let worker: Worker | undefined;
  try {
    worker = startWorker(address);
    await firstEvent(worker);
  } catch {
    // Thrown instead of reported: the event comes all the same, a task later.
    await new Promise((resolve) => setTimeout(resolve, 0));
  } finally {
    target.removeEventListener('securitypolicyviolation', record as EventListener);
    worker?.terminate();
  }
  const refusal = refusals.find(({ disposition }) => disposition !== 'report');
  return refusal && explainRefusal(refusal);
}

function firstEvent(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => resolve();
    for (const name of ['error', 'message']) worker.addEventListener(name, stop, { once: true });
    setTimeout(stop, REFUSAL_MS);
  });
}

function explainRefusal({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): Finding {
  const reason = 'refused by policy';
  const got = `a refusal by the page's Content-Security-Policy (${effectiveDirective})`;
  if (/trusted-types/.test(effectiveDirective)) {
    return { reason, got, remedy: 'Allow the policy of weft-vm: trusted-types weft.' };
  }
  if (blockedURI.startsWith('blob')) {
    const remedy = `${COPY} Or allow blob: and its origin in worker-src: a file of the page's origin imports it.`;
    return { reason, got, remedy };
  }
  return { reason, got, remedy: "Allow its address in worker-src, such as worker-src 'self'." };
}

async function inspectFile(address: string): Promise<Finding | undefined> {
  let response: Response;
  try {
    response = await fetch(address, { signal: AbortSignal.timeout(FETCH_MS) });
  } catch (cause) {
    const isForeign = new URL(address).origin !== globalThis.origin;
    const remedy = isForeign
      ? `Its server must allow other origins (Access-Control-Allow-Origin). ${COPY}`
      : COPY;
    return { reason: 'not fetched', got: `the error "${textOf(cause)}"`, remedy };
  }
  await response.body?.cancel();
  if (!response.ok)
    return { reason: 'not found', got: `HTTP status ${response.status}`, remedy: COPY };
  const type = response.headers.get('content-type') ?? 'no type';
  if (/\b(?:java|ecma)script\b/.test(type)) return undefined;
  return {
    reason: 'wrong type',
    got: `a file of type ${type}`,
    remedy: `Some servers answer every address with a page. ${COPY}`,
  };
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

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
