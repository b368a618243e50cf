/** Most reads of little are over by then. */
const EAGER_MS = 1;
const PAUSE_MS = 1;

type Poll = () => void;

// Those of the process, whatever a test puts in their place when the first device is opened.
const { setImmediate, setTimeout } = globalThis;
const now = performance.now.bind(performance);

let isPaused = false;

/** The functions that a process waits with. */
interface Timers {
  readonly now: () => number;
  readonly soon: (poll: Poll) => unknown;
  readonly later: (poll: Poll, delayMs: number) => unknown;
}

/**
 * In place of `soon`, for those who ask again and again whether something is over: who still asks
 * after a millisecond waits for one in between.
 */
export function withPauses({ now, soon, later }: Timers): (poll: Poll) => unknown {
  let isInPoll = false;
  let eagerUntil = 0;
  return (poll) => {
    if (!isInPoll) eagerUntil = now() + EAGER_MS;
    const run = () => {
      isInPoll = true;
      try {
        poll();
      } finally {
        isInPoll = false;
      }
    };
    return now() < eagerUntil ? soon(run) : later(run, PAUSE_MS);
  };
}

/**
 * Lets Dawn in Node wait without work. It asks by `setImmediate` whether the GPU or its compiler is
 * done, more than 100,000 times a second, on a core that a driver in software computes with.
 */
export function pausePolls(): void {
  if (isPaused) return;
  isPaused = true;
  const paused = withPauses({ now, soon: setImmediate, later: setTimeout });
  const isNative = (callback: unknown) => String(callback).includes('[native code]');
  const replacement = (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
    isNative(callback) ? paused(() => callback(...args)) : setImmediate(callback, ...args);
  Object.assign(globalThis, { setImmediate: Object.assign(replacement, setImmediate) });
}
