import type { Clock } from '../core/async/clock.ts';
import { macrotask } from '../core/async/macrotask.ts';

interface Waiting {
  readonly at: number;
  readonly work: () => void;
}

/** A clock that stands still until it is told to go on. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #waiting = new Set<Waiting>();
  #onChange: () => void = () => undefined;

  now(): number {
    return this.#now;
  }

  after(delayMs: number, work: () => void): () => void {
    const waiting = { at: this.#now + delayMs, work };
    this.#waiting.add(waiting);
    this.#onChange();
    return () => void this.#waiting.delete(waiting);
  }

  /** How many wait for it. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Resolves when so many wait for it. */
  async waitedFor(count = 1): Promise<void> {
    while (this.#waiting.size < count) {
      await new Promise<void>((resolve) => {
        this.#onChange = resolve;
      });
    }
  }

  /** Goes on, and does what is due on the way, each in a task of its own: what follows from it may wait anew. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#waiting.delete(next);
      this.#now = next.at;
      next.work();
      await macrotask();
    }
    this.#now = end;
  }

  /** Goes on step by step until `done` settles, which it gives. */
  async advanceUntil<T>(done: Promise<T>, stepMs: number): Promise<T> {
    const state = { isSettled: false };
    const settle = (): void => {
      state.isSettled = true;
    };
    done.then(settle, settle);
    while (!state.isSettled) {
      await macrotask();
      await this.advance(stepMs);
    }
    return done;
  }

  #next(end: number): Waiting | undefined {
    const due = [...this.#waiting].filter(({ at }) => at <= end);
    return due.reduce<Waiting | undefined>(
      (first, one) => (first === undefined || one.at < first.at ? one : first),
      undefined,
    );
  }
}
