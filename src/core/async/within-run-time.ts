import type { Clock } from './clock.ts';
import { abortError, RuntimeError } from '../errors.ts';
import { withinTime } from './until-aborted.ts';

/** How long a run may take, in milliseconds. */
interface RunTime {
  readonly runTimeout: number | undefined;
  readonly clock?: Clock | undefined;
}

/**
 * The value that `run` resolves to, or a RuntimeError when that takes longer. The signal that it gets is aborted
 * then, and when `signal` is.
 */
export async function withinRunTime<T>(
  run: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  { runTimeout, clock }: RunTime,
): Promise<T> {
  if (runTimeout === undefined) return run(signal);
  // Not `AbortSignal.any`: Node keeps such a signal until it is aborted.
  const ended = new AbortController();
  const abort = (): void => ended.abort(abortError(signal));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const late = (): Error => {
      const error = tooLongRun(runTimeout);
      ended.abort(error);
      return error;
    };
    return await withinTime(run(ended.signal), { timeoutMs: runTimeout, late, clock });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

export function tooLongRun(runTimeout: number): RuntimeError {
  return new RuntimeError(
    {
      got: `a run of more than ${runTimeout} ms`,
      expected: 'results within the runTimeout',
      remedy: 'Raise it when you load the program, as far as its worker or server allows.',
    },
    { details: { runTimeout } },
  );
}
