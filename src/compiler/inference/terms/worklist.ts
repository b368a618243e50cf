/** A rule that needs to know types before it can say anything, such as that of an operator. */
export interface Constraint {
  /**
   * Applies the rule if enough is known, and says whether it did. `closed`: nothing more will be
   * known of dimensions.
   */
  attempt(closed: boolean): boolean;
  /** Nothing more will be known. */
  giveUp(): void;
}

/** Constraints that wait for types, tried in the order in which they came. */
export class Worklist {
  #waiting: Constraint[] = [];

  add(constraint: Constraint): void {
    if (!constraint.attempt(false)) this.#waiting.push(constraint);
  }

  /** Tries until nothing moves; then the rest gives up. */
  solve(): void {
    for (;;) {
      this.#sweep();
      const index = this.#waiting.findIndex((constraint) => constraint.attempt(true));
      if (index < 0) break;
      this.#waiting.splice(index, 1);
    }
    for (const constraint of this.#waiting) constraint.giveUp();
    this.#waiting = [];
  }

  #sweep(): void {
    for (let count = -1; count !== this.#waiting.length; ) {
      count = this.#waiting.length;
      this.#waiting = this.#waiting.filter((constraint) => !constraint.attempt(false));
    }
  }
}
