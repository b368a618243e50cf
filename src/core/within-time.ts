/** Timers of more would go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** `work`, or the error that `late` makes when it has not settled by then; it then ends unheard. */
export function withinTime<T>(work: Promise<T>, timeoutMs: number, late: () => Error): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.min(timeoutMs, LONGEST_TIMER_MS));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
