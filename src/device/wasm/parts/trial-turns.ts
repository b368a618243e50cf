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
