import { wrap } from 'comlink';
import { WorkerError } from '../../core/errors.ts';
import { VERSION } from '../../core/version.ts';
import type {
  SessionService,
  WorkerFiles,
  WorkerInfo,
} from '../../worker/protocol/session-service.ts';
import { startWorker } from './start-worker.ts';
import { startSource } from './worker-files.ts';

/** Default of `LoadOptions.workerTimeout`. */
export const WORKER_TIMEOUT_MS = 30_000;
/** Timers of more milliseconds fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export interface WorkerStart {
  /** true: the package's worker. */
  readonly start: true | (() => Worker);
  /** The folder of the package's files, where it is not beside this one. */
  readonly folder?: string | URL | undefined;
  readonly timeoutMs?: number | undefined;
  /** Gets each worker that is started, before it answers. */
  readonly onStart: (worker: Worker) => void;
  /** Called when a worker that answered is gone. */
  readonly onGone: (how: string) => void;
}

/** Why a worker that was started does not serve. */
export type StartFailure =
  | { readonly kind: 'thrown'; readonly cause: unknown }
  | { readonly kind: 'not loaded' }
  | { readonly kind: 'no answer' }
  /** Undefined: of a worker that does not know the call. */
  | { readonly kind: 'other version'; readonly version: string | undefined };

function startOwn(files: WorkerFiles | undefined): Worker {
  return files?.main === undefined ? startSource() : startWorker(files.main);
}

/** Never seen outside: carries a failure to who explains it. */
export class FailedStart {
  readonly why: StartFailure;

  constructor(why: StartFailure) {
    this.why = why;
  }
}

/** Resolves when the worker has answered. Rejects with FailedStart, or WorkerError when it ended. */
export function shakeHands(
  files: WorkerFiles | undefined,
  { start, timeoutMs = WORKER_TIMEOUT_MS, onStart, onGone }: WorkerStart,
): Promise<SessionService> {
  const worker = start === true ? startOwn(files) : start();
  onStart(worker);
  return new Promise<SessionService>((resolve, reject) => {
    let isOpen = false;
    let isStopped = false;
    const terminate = worker.terminate.bind(worker);
    const stop = (): void => {
      if (!isStopped) terminate();
      isStopped = true;
    };
    const end = (reason: unknown): void => {
      clearTimeout(timer);
      stop();
      reject(reason);
    };
    const fail = (why: StartFailure): void => end(new FailedStart(why));
    const gone = (how: string): void => {
      if (isOpen) onGone(how);
      else end(goneError(how));
    };
    const timer =
      timeoutMs <= MAX_TIMER_MS ? setTimeout(fail, timeoutMs, { kind: 'no answer' }) : undefined;
    worker.addEventListener('error', ({ message }) => {
      if (message || isOpen) gone(message ? `failed: ${message}` : 'failed');
      else fail({ kind: 'not loaded' });
    });
    worker.addEventListener('messageerror', () => gone('sent a message that cannot be read'));
    // No event tells that a worker was terminated or killed. `terminate` called here is seen at once,
    // any other end by the lock, which a dead worker gives back.
    worker.terminate = () => {
      stop();
      gone('was terminated');
    };
    const locks = globalThis.navigator?.locks;
    const lock = locks && `weft-worker-${crypto.randomUUID()}`;
    const service: SessionService = wrap<SessionService>(worker);
    const accept = ({ version }: WorkerInfo): void => {
      if (version !== VERSION) return fail({ kind: 'other version', version });
      clearTimeout(timer);
      isOpen = true;
      if (lock) locks.request(lock, () => gone('stopped')).catch(() => undefined);
      resolve(service);
    };
    const refuse = (): void => fail({ kind: 'other version', version: undefined });
    service.handshake({ files, lock }).then(accept, refuse);
  });
}

export function goneError(how: string): WorkerError {
  return new WorkerError(`The worker ${how}. Load the session again to go on.`);
}
