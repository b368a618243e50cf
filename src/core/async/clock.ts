/** The longest time of a timer; one of more would go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time, for those who wait or give up: tests bring one that moves as they say. */
export interface Clock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Does `work` once so many milliseconds have passed. The function that it returns calls that off. */
  after(delayMs: number, work: () => void): () => void;
}

export const CLOCK: Clock = {
  now: () => performance.now(),
  after(delayMs, work) {
    const timer = setTimeout(work, Math.min(delayMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Resolves once so many milliseconds have passed. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((wake) => void clock.after(delayMs, wake));
}
