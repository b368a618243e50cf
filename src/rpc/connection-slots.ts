import type { Served } from './serve.ts';

/** How many connections may be about to prove the token. */
const MAX_UNPROVED = 16;

/**
 * The connections that a device has. Those that have not proved the token take no place of those that
 * have: one too many ends the oldest of them.
 */
export class ConnectionSlots {
  readonly #max: number;
  readonly #proved = new Set<Served>();
  readonly #unproved = new Set<Served>();
  #changed: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Connections that have proved the token. */
  get size(): number {
    return this.#proved.size;
  }

  get isFull(): boolean {
    return this.#proved.size >= this.#max;
  }

  add(connection: Served): void {
    this.#unproved.add(connection);
    const [oldest] = this.#unproved;
    if (this.#unproved.size > MAX_UNPROVED) oldest?.close();
    connection.ready.then(
      () => this.#settle(connection),
      () => undefined,
    );
    void connection.closed.then(() => this.#free(connection));
  }

  #settle(connection: Served): void {
    this.#unproved.delete(connection);
    if (this.isFull) connection.close();
    else this.#proved.add(connection);
  }

  #free(connection: Served): void {
    this.#unproved.delete(connection);
    this.#proved.delete(connection);
    for (const wake of this.#changed.splice(0)) wake();
  }

  /** Resolves when a connection has ended. */
  freed(): Promise<void> {
    return new Promise((resolve) => this.#changed.push(resolve));
  }

  close(): void {
    for (const connection of [...this.#unproved, ...this.#proved]) connection.close();
  }
}
