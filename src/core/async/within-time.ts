import { CLOCK, type Clock } from './clock.ts';

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
