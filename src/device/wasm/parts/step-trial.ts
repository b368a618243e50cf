/** How a step runs: in this thread, or with a part for each thread. */
export type Way = 'alone' | 'shared';

/** Runs of each way before the ones that are measured: threads get constants in the first. */
const WARMUPS = 1;
/** Runs of each way that are measured: at least so many, and so long in all, for clocks are coarse; at most so many. */
const FEWEST = 3;
const LEAST_MS = 10;
const MOST = 40;
/** Runs that something else held up are no measure: so many of all that took the longest. */
const LEFT_OUT = 1 / 3;
/** To share has to take so much less. */
const LEAST_GAIN = 0.9;
/** Runs until a step that is shared is measured again. */
const VALID = 1000;

/** Finds by the times of a step's runs whether it pays to share them. */
export class StepTrial {
  #times: Record<Way, number[]> = { alone: [], shared: [] };
  #decided: Way | undefined;
  #runs = 0;

  /** How the next run is done. Without threads it is not asked. */
  next(): Way {
    if (this.#decided !== undefined) {
      if (this.#decided === 'shared' && ++this.#runs >= VALID) this.#begin();
      else return this.#decided;
    }
    const { alone, shared } = this.#times;
    // In turns, so that what else the machine does slows down both.
    return shared.length <= alone.length ? 'shared' : 'alone';
  }

  /** Takes the time of a run. True where it was the last one that is measured, and the step is not shared. */
  note(way: Way, ms: number): boolean {
    if (this.#decided !== undefined) return false;
    const { alone, shared } = this.#times;
    this.#times[way].push(ms);
    const measured = Math.min(alone.length, shared.length) - WARMUPS;
    if (measured < FEWEST || (measured < MOST && sum(alone) < LEAST_MS)) return false;
    this.#decided = typical(shared) < typical(alone) * LEAST_GAIN ? 'shared' : 'alone';
    return this.#decided === 'alone';
  }

  /** The step is never shared any more. */
  giveUp(): void {
    this.#decided = 'alone';
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
