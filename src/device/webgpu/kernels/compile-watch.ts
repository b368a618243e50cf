import { CLOCK, type Clock } from '../../../core/async/clock.ts';
import { DeviceError } from '../../../core/errors.ts';

const LOOKS = 10;
const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;

interface Waiting {
  readonly label: string;
  readonly timeoutMs: number;
  readonly reject: (error: DeviceError) => void;
  silentMs: number;
}

/**
 * Gives up code that a driver or an engine does not finish to compile. The time of one counts from the last one that
 * came, since many wait for the same compiler; time in which this thread was blocked or asleep does not count.
 */
export class CompileWatch {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #lookedAt = 0;
  #isLooking = false;

  constructor(clock: Clock = CLOCK) {
    this.#clock = clock;
  }

  /** `compiling`; rejects with a DeviceError that names the kernel when it does not come in time. */
  async within<T>(
    compiling: Promise<T>,
    { label, timeoutMs }: { readonly label: string; readonly timeoutMs: number },
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = { label, timeoutMs, reject, silentMs: 0 };
      const came = (): void => {
        this.#waiting.delete(waiting);
        for (const other of this.#waiting) other.silentMs = 0;
      };
      compiling.then(resolve, reject).finally(came);
      this.#waiting.add(waiting);
      if (!this.#isLooking) this.#look();
    });
  }

  #look(): void {
    this.#isLooking = this.#waiting.size > 0;
    if (!this.#isLooking) return;
    const least = Math.min(...Array.from(this.#waiting, ({ timeoutMs }) => timeoutMs));
    const pauseMs = Math.max(SHORTEST_PAUSE_MS, Math.min(LONGEST_PAUSE_MS, least / LOOKS));
    this.#lookedAt = this.#clock.now();
    this.#clock.after(pauseMs, () => {
      const passedMs = Math.min(this.#clock.now() - this.#lookedAt, 2 * pauseMs);
      for (const waiting of this.#waiting) {
        waiting.silentMs += passedMs;
        if (waiting.silentMs < waiting.timeoutMs) continue;
        this.#waiting.delete(waiting);
        waiting.reject(lateError(waiting));
      }
      this.#look();
    });
  }
}

function lateError({ label, timeoutMs }: Waiting): DeviceError {
  return new DeviceError(
    {
      where: `kernel ${label}`,
      got: `no compiled code in ${timeoutMs} ms`,
      expected: 'it to be compiled by then',
      remedy: 'Load the program on another device, or with a larger deviceTimeout.',
    },
    { details: { kernels: [label], timeoutMs } },
  );
}
