import { LimitError } from './errors.ts';

/** Calls may come in bursts of this many seconds' worth. */
const BURST_SECONDS = 4;

/** A token bucket. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #now: () => number;
  #tokens: number;
  #last: number;

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#tokens = perSecond * BURST_SECONDS;
    this.#last = now();
  }

  /** Throws LimitError when there were too many. */
  take(): void {
    const now = this.#now();
    const earned = ((now - this.#last) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#tokens + earned, this.#perSecond * BURST_SECONDS);
    this.#last = now;
    if (this.#tokens < 1) {
      throw new LimitError({
        where: 'remote connection',
        got: `more than ${this.#perSecond} calls per second`,
        expected: 'fewer',
        remedy: 'Do more in one call, or raise limits.callsPerSecond where they run.',
      });
    }
    this.#tokens--;
  }
}
