import { ASYNC_DISPOSE } from '../core/dispose-symbols.ts';
import type { Session } from '../client/session.ts';

/** The base of all tasks: holds their sessions until it is disposed of. */
export abstract class Task {
  /** Sessions of its models, in the order of its sources. */
  readonly sessions: readonly [Session, ...Session[]];

  readonly #tokenizer: { close(): void } | undefined;

  /** @internal */
  constructor(sessions: readonly [Session, ...Session[]], tokenizer?: { close(): void }) {
    this.sessions = sessions;
    this.#tokenizer = tokenizer;
  }

  /** The first session: the only one of most tasks. */
  get session(): Session {
    return this.sessions[0];
  }

  /** Frees everything. Calls that run reject with UsageError. Idempotent. */
  async dispose(): Promise<void> {
    await Promise.all(this.sessions.map((session) => session.dispose()));
    this.#tokenizer?.close();
  }

  /** Calls {@link dispose} at the end of a block with `await using`. */
  [ASYNC_DISPOSE](): Promise<void> {
    return this.dispose();
  }
}
