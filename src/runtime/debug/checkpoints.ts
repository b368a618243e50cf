/** A snapshot of a debugging run at a place of it. */
export interface Checkpoint {
  /** Instructions that the run had executed. */
  readonly executed: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const BYTE_BUDGET = 256 * 2 ** 20;

/** Snapshots of a run, from which it can be repeated. Where they get too large, every second one goes. */
export class Checkpoints {
  /** Bytes that one may have: several fit, or they would be of little use. */
  readonly largest: number;
  readonly #byteBudget: number;
  #all: Checkpoint[] = [];

  /** `byteBudget`: the most bytes that all of them take. */
  constructor(byteBudget: number = BYTE_BUDGET) {
    this.#byteBudget = byteBudget;
    this.largest = byteBudget / 8;
  }

  /** The last one that is not beyond a place. */
  before(executed: number): Checkpoint | undefined {
    return this.#all.findLast((each) => each.executed <= executed);
  }

  add(checkpoint: Checkpoint): void {
    if (this.#all.some(({ executed }) => executed === checkpoint.executed)) return;
    this.#all = [...this.#all, checkpoint].sort((a, b) => a.executed - b.executed);
    while (this.#byteLength() > this.#byteBudget)
      this.#all = this.#all.filter((_, i) => i % 2 === 1);
  }

  #byteLength(): number {
    return this.#all.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  }
}
