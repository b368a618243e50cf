import type { LaunchOrder } from '../step-distributor.ts';

/** Something to do: over when it returns, or when what it returns resolves. */
type Task = () => Promise<void> | undefined;

/** Tasks in order. They are done at once unless an earlier one is not over. */
export class LaunchQueue implements Omit<LaunchOrder, 'view'> {
  isPaused = false;
  readonly #tasks: Task[] = [];
  #next = 0;
  #isBusy = false;
  /** Functions that reject the promises of those who wait for a result. */
  readonly #rejecters = new Set<(error: unknown) => void>();
  /** The first since somebody asked. */
  #failure: { readonly error: unknown } | undefined;
  #disposed: Error | undefined;

  get isIdle(): boolean {
    return !this.#isBusy;
  }

  readonly isDisposed = (): boolean => this.#disposed !== undefined;

  submit(task: () => void): void {
    if (!this.#isBusy) task();
    else
      this.#add(() => {
        task();
        return undefined;
      });
  }

  /** Submits what may not be over when it returns. */
  submitLong(task: Task): void {
    if (this.#isBusy) {
      this.#add(task);
      return;
    }
    const rest = task();
    if (rest === undefined) return;
    this.#isBusy = true;
    void this.#perform(rest);
  }

  finish<T>(task: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#disposed !== undefined) throw this.#disposed;
      this.#rejecters.add(reject);
      this.submit(() => {
        this.#rejecters.delete(reject);
        const failure = this.#failure;
        this.#failure = undefined;
        if (failure !== undefined) reject(failure.error);
        else resolve(task());
      });
    });
  }

  async settle(): Promise<void> {
    if (this.#isBusy) await new Promise<void>((resolve) => this.submit(resolve));
  }

  /** Drops all tasks that have not begun; whoever waits for a result gets the error. */
  dispose(error: Error): void {
    this.#disposed ??= error;
    this.#tasks.length = 0;
    for (const reject of this.#rejecters) reject(error);
    this.#rejecters.clear();
  }

  #add(task: Task): void {
    if (this.#disposed === undefined) this.#tasks.push(task);
  }

  /** All tasks behind one that is not over. */
  async #perform(first: Promise<void>): Promise<void> {
    let rest: Promise<void> | undefined = first;
    while (rest !== undefined) {
      try {
        await rest;
      } catch (error) {
        this.#failure ??= { error };
      }
      rest = this.#performMore();
    }
    this.#isBusy = false;
  }

  /** Tasks up to one that is not over, which is returned. */
  #performMore(): Promise<void> | undefined {
    while (this.#next < this.#tasks.length) {
      try {
        const rest = this.#tasks[this.#next++]?.();
        if (rest !== undefined) return rest;
      } catch (error) {
        this.#failure ??= { error };
      }
    }
    this.#tasks.length = 0;
    this.#next = 0;
    return undefined;
  }
}
