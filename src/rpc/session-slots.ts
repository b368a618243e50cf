import type { Served } from './serve.ts';

/** As many may be about to prove the token. */
const MAX_UNPROVED = 16;

/**
 * The sessions that a device has. Those that have not proved the token take no place of those that
 * have: one too many ends the oldest of them.
 */
export class SessionSlots {
  readonly #max: number;
  readonly #proved = new Set<Served>();
  readonly #unproved = new Set<Served>();
  #changed: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Sessions that have proved the token. */
  get size(): number {
    return this.#proved.size;
  }

  get isFull(): boolean {
    return this.#proved.size >= this.#max;
  }

  add(session: Served): void {
    this.#unproved.add(session);
    const [oldest] = this.#unproved;
    if (this.#unproved.size > MAX_UNPROVED) oldest?.close();
    session.ready.then(
      () => this.#settle(session),
      () => undefined,
    );
    void session.closed.then(() => this.#free(session));
  }

  #settle(session: Served): void {
    this.#unproved.delete(session);
    if (this.isFull) session.close();
    else this.#proved.add(session);
  }

  #free(session: Served): void {
    this.#unproved.delete(session);
    this.#proved.delete(session);
    for (const wake of this.#changed.splice(0)) wake();
  }

  /** Resolves when a session has ended. */
  freed(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  close(): void {
    for (const session of [...this.#unproved, ...this.#proved]) session.close();
  }
}
