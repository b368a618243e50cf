/** The time of one section of the report, which ends in the middle rather than take another's. */
export class SectionTime {
  readonly #startMs = performance.now();
  readonly #limitMs: number;
  readonly #signal: AbortSignal;

  constructor(limitMs: number, signal: AbortSignal) {
    this.#limitMs = limitMs;
    this.#signal = signal;
  }

  get leftMs(): number {
    return this.#limitMs - (performance.now() - this.#startMs);
  }

  /**
   * Each of `items`, as long as there is time, with a turn of the page's other work before it. Resolves to a line that
   * says how many were left out, if any. Rejects with the reason of the signal once that is aborted.
   */
  async each<T>(
    what: string,
    items: readonly T[],
    work: (item: T, index: number) => Promise<void>,
  ): Promise<string | undefined> {
    for (const [i, item] of items.entries()) {
      if (this.leftMs <= 0) {
        const seconds = Math.round(this.#limitMs / 1000);
        return `${what}: ${items.length - i} of ${items.length} left out after ${seconds} s`;
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#signal.throwIfAborted();
      await work(item, i);
    }
    return undefined;
  }
}
