/**
 * Runs that tell where to divide: at least so many, and so long in all, for clocks are coarse; at most so
 * many. The first is left out: threads get code and constants in it.
 */
const FEWEST = 2;
const LEAST_MS = 5;
const MOST = 6;

/** Units from `first` up to `end`. */
export interface Units {
  readonly first: number;
  readonly end: number;
}

/** When the parts of a run were done, in milliseconds from its begin. */
interface PartTimes {
  /** This thread's begin and end. */
  readonly ownBegin: number;
  readonly ownEnd: number;
  /** The end of the last of the other threads. */
  readonly end: number;
}

/** How units are divided among threads: evenly, then so that all are done at the same time. */
export class UnitSplit {
  readonly #units: number;
  readonly #others: number;
  /** Units of each other thread. */
  #part: number;
  #isSettled: boolean;
  #runs = -1;
  #sums = { ownBegin: 0, ownEnd: 0, end: 0 };

  constructor(
    units: number,
    { others, isFixed = false }: { readonly others: number; readonly isFixed?: boolean },
  ) {
    this.#units = units;
    this.#others = others;
    this.#isSettled = isFixed;
    this.#part = Math.max(units / (others + 1), 1);
  }

  /** The units of each thread, this one first. */
  get ranges(): readonly Units[] {
    const own = Math.max(this.#units - this.#part * this.#others, 0);
    const beginOf = (thread: number): number =>
      thread === 0 ? 0 : Math.min(Math.round(own + this.#part * (thread - 1)), this.#units);
    return Array.from({ length: this.#others + 1 }, (_, thread) => ({
      first: beginOf(thread),
      end: thread === this.#others ? this.#units : beginOf(thread + 1),
    }));
  }

  /** True once the division of units is final. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Takes the times of a run. True where the next one is to be divided otherwise. */
  record({ ownBegin, ownEnd, end }: PartTimes): boolean {
    if (this.#isSettled || ++this.#runs === 0) return false;
    const sums = this.#sums;
    sums.ownBegin += ownBegin;
    sums.ownEnd += ownEnd;
    sums.end += end;
    if (this.#runs < FEWEST || (this.#runs < MOST && sums.end < LEAST_MS)) return false;
    this.#isSettled = true;
    return this.#divide();
  }

  /**
   * A unit takes all threads as long, and the others have their messages beside: this one ends its part
   * when they are done with both.
   */
  #divide(): boolean {
    const { ownBegin, ownEnd, end } = this.#sums;
    const ownUnits = this.#units - this.#part * this.#others;
    const perUnit = (ownEnd - ownBegin) / ownUnits;
    const messages = end - ownBegin - perUnit * this.#part;
    if (!(perUnit > 0)) return false;
    const part = (this.#units - messages / perUnit) / (this.#others + 1);
    const even = this.#units / (this.#others + 1);
    // At least half of an even part: one message that was held up must not idle the others for
    // good.
    const bounded = Math.min(Math.max(part, even / 2, 1), even);
    const isOther = Math.round(bounded) !== Math.round(this.#part);
    if (isOther) this.#part = bounded;
    return isOther;
  }
}
