import { PartWorker, type PartWorkerOptions } from './part-worker.ts';

/** Milliseconds between looks whether threads have started. */
const LOOK_MS = 1;

/** Threads that have memories of their own: all of them, or none once one has failed. */
export class PartWorkers {
  readonly #count: number;
  readonly #options: Omit<PartWorkerOptions, 'onBreak'>;
  readonly #workers: PartWorker[] = [];
  #isStarted = false;
  #isBroken = false;

  constructor(count: number, options: Omit<PartWorkerOptions, 'onBreak'>) {
    this.#count = count;
    this.#options = options;
  }

  /** Threads that work, or will. */
  get count(): number {
    return this.#isBroken ? 0 : this.#count;
  }

  /** Those that may be given work: all, or none. */
  get available(): readonly PartWorker[] {
    return this.#workers.every(({ isReady }) => isReady) ? this.#workers : [];
  }

  /** Milliseconds of a message there and back. */
  get messagesMs(): number {
    return Math.max(0, ...this.#workers.map(({ messagesMs }) => messagesMs));
  }

  /** Starts the threads, once: programs that share no work do without. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (let i = 0; i < this.#count && !this.#isBroken; i++) {
      const worker = new PartWorker({ ...this.#options, onBreak: () => this.dispose() });
      if (this.#isBroken) worker.terminate();
      else this.#workers.push(worker);
    }
  }

  /** Resolves when all have started, or never will. */
  async ready(): Promise<void> {
    const end = performance.now() + this.#options.patienceMs;
    while (this.#workers.length > 0 && this.available.length === 0) {
      if (performance.now() > end) this.dispose();
      await new Promise((wake) => setTimeout(wake, LOOK_MS));
    }
  }

  /** Ends all threads: some alone are of no use. */
  dispose(): void {
    this.#isBroken = true;
    for (const worker of this.#workers.splice(0)) worker.terminate();
  }
}
