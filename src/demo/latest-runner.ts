/**
 * Runs a task for the newest input only: while one run is under way, later inputs replace each
 * other, so that runs never pile up behind a fast pen or a slow device.
 */
export class LatestRunner<Input> {
  readonly #task: (input: Input) => Promise<void>;
  readonly #onIdle: (() => void) | undefined;
  #waiting: { readonly input: Input } | undefined;
  #running = false;

  /** `task` must not reject. `onIdle` is called when nothing is left to run. */
  constructor(task: (input: Input) => Promise<void>, onIdle?: () => void) {
    this.#task = task;
    this.#onIdle = onIdle;
  }

  submit(input: Input): void {
    this.#waiting = { input };
    if (!this.#running) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiting !== undefined) {
        const { input } = this.#waiting;
        this.#waiting = undefined;
        await this.#task(input);
      }
    } finally {
      this.#running = false;
    }
    this.#onIdle?.();
  }
}
