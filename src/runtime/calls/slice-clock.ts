import { macrotask } from '../../core/async/macrotask.ts';

/** Time in which calls hold the thread, counted over all of them: many short ones yield like a long one. */
export class SliceClock {
  readonly #sliceMs: number;
  #busyMs = 0;

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs;
  }

  /** Others are to have their turn. */
  get isOver(): boolean {
    return this.#busyMs >= this.#sliceMs;
  }

  /** Counts the time since `begin`. */
  count(begin: number): void {
    this.#busyMs += performance.now() - begin;
  }

  /** Resolves when others had their turn. */
  next(): Promise<void> {
    this.#busyMs = 0;
    return macrotask();
  }
}
