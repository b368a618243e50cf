/** How a step runs: in this thread, or with a part for each thread. */
export type Way = 'alone' | 'shared';

interface StepTrialOptions {
  /** How many threads there are beside this one. */
  readonly others: number;
  /** About how long its messages take at least. */
  readonly messagesMs: () => number;
  readonly turns: TrialTurns;
}

/** Runs of each way before the ones that are measured: memory is fetched, threads get constants. */
const WARMUPS = 1;
/** Runs of each way that are measured: at least so many, and so long in all, for clocks are coarse; at most so many. */
const FEWEST = 3;
const LEAST_MS = 5;
const MOST = 15;
/** A short step is shared in every third run of these only: most runs take as long as ever. */
const LONG_MS = 3;
const SPACING = 3;
/** Runs that something else held up are no measure: so many of all that took the longest. */
const LEFT_OUT = 1 / 3;
/** The part of the time that a shared step may take of that alone, to be shared from then on. */
const LEAST_GAIN = 0.9;
/**
 * A step that takes this much longer when shared, already in the first runs, is tried no further.
 */
const HOPELESS = 1.2;
/**
 * Runs until it is measured again, as the machine may have less to do, or more. Of short steps there are
 * many, so that each waits longer.
 */
const VALID = 1000;
const SHORT_VALID = 10_000;

/** Finds by the times of a step's runs whether it pays to share them. */
export class StepTrial {
  readonly #options: StepTrialOptions;
  #times: Record<Way, number[]> = { alone: [], shared: [] };
  #decided: Way | undefined;
  #isGivenUp = false;
  #valid = VALID;
  #runs = 0;

  constructor(options: StepTrialOptions) {
    this.#options = options;
  }

  /** How the next run is done. Where there are no threads it is not asked. */
  next(): Way {
    if (this.#decided !== undefined) {
      if (this.#isGivenUp || ++this.#runs < this.#valid) return this.#decided;
      this.#begin();
    }
    const { alone, shared } = this.#times;
    if (alone.length < WARMUPS + FEWEST || !this.#options.turns.isTurnOf(this)) return 'alone';
    // Both ways in turns, so that what else the machine does slows down both.
    const spacing = typical(alone) < LONG_MS ? SPACING : 1;
    const isDue = this.#runs++ % spacing === 0;
    return isDue && shared.length <= alone.length - WARMUPS - FEWEST ? 'shared' : 'alone';
  }

  /** Takes the time of a run. True where it decides that the step is not shared. */
  record(way: Way, ms: number): boolean {
    if (this.#decided !== undefined) return false;
    const { alone, shared } = this.#times;
    const isWaiting = shared.length === 0 && alone.length >= WARMUPS + FEWEST;
    if (isWaiting && way === 'alone') return false;
    this.#times[way].push(ms);
    const decided = this.#decide();
    if (decided === undefined) return false;
    const isShort = decided === 'alone' && typical(alone) < LONG_MS;
    this.#valid = isShort ? SHORT_VALID : VALID;
    this.#decided = decided;
    this.#runs = 0;
    this.#options.turns.leave(this);
    return decided === 'alone';
  }

  /** The step is never shared any more. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#decided = 'alone';
    this.#options.turns.leave(this);
  }

  #decide(): Way | undefined {
    const { others, messagesMs, turns } = this.#options;
    const { alone, shared } = this.#times;
    if (alone.length < WARMUPS + FEWEST) return undefined;
    const aloneMs = typical(alone);
    if (shared.length === 0) {
      const least = aloneMs / (others + 1) + messagesMs();
      if (least >= aloneMs * LEAST_GAIN) return 'alone';
      turns.wait(this, aloneMs);
    }
    if (shared.length < WARMUPS + FEWEST) return undefined;
    const sharedMs = typical(shared);
    if (sharedMs > aloneMs * HOPELESS) return 'alone';
    const measured = shared.slice(WARMUPS);
    if (measured.length < MOST && sum(measured) < LEAST_MS) return undefined;
    return sharedMs < aloneMs * LEAST_GAIN ? 'shared' : 'alone';
  }

  #begin(): void {
    this.#times = { alone: [], shared: [] };
    this.#decided = undefined;
    this.#runs = 0;
  }
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** The mean of the runs that nothing held up. */
function typical(times: readonly number[]): number {
  const sorted = times.slice(WARMUPS).sort((a, b) => a - b);
  const taken = sorted.slice(0, Math.ceil(sorted.length * (1 - LEFT_OUT)));
  return sum(taken) / taken.length;
}

/** Runs of others in which the one whose turn it is may not run: then it is the next one's. */
const PATIENCE = 1000;

/** Steps are tried one at a time, those that take the longest first: a run is never slowed down by many. */
export class TrialTurns {
  /** Milliseconds that they take. */
  readonly #waiting = new Map<object, number>();
  #current: object | undefined;
  #others = 0;

  wait(trial: object, ms: number): void {
    this.#waiting.set(trial, ms);
  }

  /** Returns true if it is this trial's turn; gives the turn to the next one where it is over. */
  isTurnOf(trial: object): boolean {
    if (this.#current === trial) this.#others = 0;
    else if (this.#current === undefined || ++this.#others > PATIENCE) {
      const [longest] = [...this.#waiting].sort(([, a], [, b]) => b - a);
      this.#current = longest?.[0];
      this.#others = 0;
      if (this.#current !== undefined) this.#waiting.delete(this.#current);
    }
    return this.#current === trial;
  }

  /** Takes a trial out: it waits no more, and its turn is over. */
  leave(trial: object): void {
    this.#waiting.delete(trial);
    if (this.#current === trial) this.#current = undefined;
  }
}
