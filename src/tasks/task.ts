import { Session } from '../client/session.ts';
import { requireKind } from '../core/check-options.ts';
import { ASYNC_DISPOSE } from '../core/async/dispose-symbols.ts';

/** Throws UsageError for what somebody else gives a constructor, who means the function that loads the task. */
export function requireLoaded(session: unknown): void {
  const expected = 'a call of its function, such as imageClassifier(…)';
  const isLoaded = session instanceof Session;
  requireKind('a task', [expected, () => isLoaded], ['a call of the constructor with', session]);
}

/** The base of all tasks: holds their sessions until it is disposed of. */
export abstract class Task {
  /** Sessions of its models, in the order of its sources. */
  readonly sessions: readonly [Session, ...Session[]];

  readonly #tokenizer: { close(): void } | undefined;

  /** @internal */
  constructor(sessions: readonly [Session, ...Session[]], tokenizer?: { close(): void }) {
    requireLoaded(sessions[0]);
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
