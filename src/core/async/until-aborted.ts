import { abortError } from '../errors.ts';
import { CLOCK, type Clock } from './clock.ts';

/** `work`, or the signal's reason as soon as it is aborted; the work then ends unheard. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(abortError(signal));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

interface TimeLimit {
  readonly timeoutMs: number;
  /** Makes the error once the time is over. */
  readonly late: () => Error;
  readonly clock?: Clock | undefined;
}

/** `work`, or the error that `late` makes when it has not settled by then; it then ends unheard. */
export function withinTime<T>(
  work: Promise<T>,
  { timeoutMs, late, clock = CLOCK }: TimeLimit,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const cancel = clock.after(timeoutMs, () => reject(late()));
    work.then(resolve, reject).finally(cancel);
  });
}
