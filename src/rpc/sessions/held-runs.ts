import { CLOCK, type Clock } from '../../core/async/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { tooLongRun } from '../../core/async/within-run-time.ts';
import { LimitError } from '../errors.ts';

/** Limits of runs that stand still until the other side has them go on: those that it debugs, traces or compares. */
interface HeldRunLimits {
  /** Such runs of a connection at one time. */
  readonly heldRuns: number;
  /** How long one waits for an order, in milliseconds. */
  readonly heldRunMs: number;
}

/** The runs of a connection that wait for orders. */
export class HeldRuns {
  readonly #limits: HeldRunLimits;
  readonly #clock: Clock;
  readonly #open = new Set<HeldRun>();

  constructor(limits: HeldRunLimits, clock: Clock = CLOCK) {
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  /** `runTimeout`: of the orders of a run together. Throws LimitError where there are too many. */
  begin(runTimeout: number | undefined): HeldRun {
    const { heldRuns, heldRunMs } = this.#limits;
    if (this.#open.size >= heldRuns) throw tooMany(heldRuns);
    const onEnd = (): boolean => this.#open.delete(run);
    const run: HeldRun = new HeldRun({ idleMs: heldRunMs, runTimeout, onEnd, clock: this.#clock });
    this.#open.add(run);
    return run;
  }
}

interface HeldRunOptions {
  readonly idleMs: number;
  readonly runTimeout: number | undefined;
  readonly onEnd: () => void;
  readonly clock: Clock;
}

/**
 * The clock of a run: while orders are under way it counts towards the run's timeout, and otherwise for how long nobody has
 * given one. Either ends the run.
 */
export class HeldRun {
  readonly #options: HeldRunOptions;
  readonly #end = new AbortController();
  readonly #reject: (error: Error) => void;
  readonly #ended: Promise<never>;
  #orders = 0;
  #spentMs = 0;
  #begunMs = 0;
  #isFinished: Error | undefined;
  #cancel: () => void = () => undefined;

  constructor(options: HeldRunOptions) {
    this.#options = options;
    let reject: (error: Error) => void = () => undefined;
    this.#ended = new Promise((_, fail) => {
      reject = fail;
    });
    // Orders reject with it.
    this.#ended.catch(() => undefined);
    this.#reject = reject;
    this.#wait();
  }

  /** Aborted when the run is over, with the reason. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Carries out an order. Rejects as soon as the run is over, with the reason. */
  async order<T>(work: () => Promise<T>): Promise<T> {
    this.#end.signal.throwIfAborted();
    if (this.#isFinished !== undefined) throw this.#isFinished;
    if (this.#orders++ === 0) this.#count();
    try {
      return await Promise.race([work(), this.#ended]);
    } finally {
      if (--this.#orders === 0) this.#stand();
    }
  }

  /** The run itself, with which this one is over. Rejects with the reason for which it ended. */
  async last<T>(run: Promise<T>): Promise<T> {
    try {
      const value = await run;
      this.finish(runOver());
      return value;
    } catch (error) {
      this.end(error as Error);
      throw this.#end.signal.reason;
    }
  }

  /** Ends the run. Idempotent. */
  end(error: Error): void {
    if (this.#end.signal.aborted) return;
    this.#cancel();
    this.#reject(error);
    this.#end.abort(error);
    this.#options.onEnd();
  }

  /** Ends the run as {@link end} does, once orders that are under way have been answered. */
  finish(error: Error): void {
    this.#isFinished ??= error;
    if (this.#orders === 0) this.end(error);
  }

  #count(): void {
    this.#cancel();
    const { runTimeout, clock } = this.#options;
    this.#begunMs = clock.now();
    if (runTimeout === undefined) return;
    const late = (): void => this.end(tooLongRun(runTimeout));
    this.#cancel = clock.after(runTimeout - this.#spentMs, late);
  }

  #stand(): void {
    if (this.#end.signal.aborted) return;
    if (this.#isFinished !== undefined) return this.end(this.#isFinished);
    this.#spentMs += this.#options.clock.now() - this.#begunMs;
    this.#wait();
  }

  #wait(): void {
    this.#cancel();
    const { idleMs, clock } = this.#options;
    const late = (): void => this.end(idleTooLong(idleMs));
    this.#cancel = clock.after(idleMs, late);
  }
}

export function runOver(): UsageError {
  return new UsageError({
    where: 'remote session',
    got: 'an order for a run that is over',
    expected: 'a run that is open',
  });
}

function tooMany(heldRuns: number): LimitError {
  return new LimitError({
    where: 'remote session',
    got: `more than ${heldRuns} runs that are debugged, traced or compared`,
    expected: `at most ${heldRuns} at a time`,
    remedy: 'Close some of them, or raise limits.heldRuns where the device is served.',
  });
}

function idleTooLong(heldRunMs: number): LimitError {
  return new LimitError({
    where: 'remote session',
    got: `a run that stood still for ${heldRunMs} ms`,
    expected: 'an order for it within limits.heldRunMs',
    remedy: 'Begin another one; its memory was given back.',
  });
}
