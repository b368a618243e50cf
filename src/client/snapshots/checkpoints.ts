import { ASYNC_DISPOSE } from '../../core/async/dispose-symbols.ts';
import { UsageError } from '../../core/errors.ts';
import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import type { CheckpointOptions } from './control-options.ts';
import { type ControlledSession, keepSnapshot } from './session-control.ts';
import type { SnapshotStore } from '../../snapshots/store-types.ts';

const CHECKPOINT_OPTIONS: OptionKinds<CheckpointOptions> = {
  everyMs: 'milliseconds',
  contents: 'function',
  onError: 'function',
  signal: 'signal',
};

const DEFAULT_EVERY_MS = 5000;

/** Stores a session again and again, until it is stopped or the session is disposed of. */
export class Checkpoints {
  readonly #session: ControlledSession;
  readonly #store: SnapshotStore;
  readonly #options: CheckpointOptions;
  readonly #stopped = new AbortController();
  readonly #end: AbortSignal;
  /**
   * The key of the snapshot that was saved last: a snapshot that is still the same is not written
   * again.
   */
  #saved = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<void> = Promise.resolve();
  #ticking: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** Throws UsageError for options that are none. */
  constructor(session: ControlledSession, store: SnapshotStore, options: CheckpointOptions) {
    checkStore(store);
    checkOptions('checkpointTo', options, CHECKPOINT_OPTIONS);
    this.#session = session;
    this.#store = store;
    this.#options = options;
    const { signal } = options;
    const ends = [this.#stopped.signal, session.closed];
    this.#end = AbortSignal.any(signal === undefined ? ends : [...ends, signal]);
    this.#end.addEventListener('abort', () => clearTimeout(this.#timer), { once: true });
    // The last event of a page before it is closed, if it gets any.
    const { document: page } = globalThis as { document?: Document };
    const onChange = (): void => {
      if (page?.visibilityState === 'hidden') void this.#try();
    };
    page?.addEventListener('visibilitychange', onChange, { signal: this.#end });
    this.#wait();
  }

  /** Stores the session now. Rejects as `Session.snapshot` and the store do. */
  now(): Promise<void> {
    const taken = this.#last.then(() => this.#take());
    this.#last = taken.catch(() => undefined);
    return taken;
  }

  /**
   * Ends the checkpoints, after the one that is being written. Rejects with the error that ended them
   * before.
   */
  async stop(): Promise<void> {
    this.#stopped.abort(new UsageError('The checkpoints were stopped.'));
    await this.#last;
    await this.#ticking;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Calls {@link stop} at the end of a block with `await using`. */
  [ASYNC_DISPOSE](): Promise<void> {
    return this.stop();
  }

  async #take(): Promise<void> {
    this.#end.throwIfAborted();
    const contents = this.#options.contents?.() ?? {};
    const options = { ...contents, signal: this.#end };
    const place = { store: this.#store, unless: this.#saved };
    this.#saved = await keepSnapshot(this.#session, options, place);
  }

  #wait(): void {
    if (this.#end.aborted || this.#failure !== undefined) return;
    const { everyMs = DEFAULT_EVERY_MS } = this.#options;
    this.#timer = setTimeout(() => {
      this.#ticking = this.#tick();
    }, everyMs);
  }

  async #tick(): Promise<void> {
    await this.#try();
    this.#wait();
  }

  async #try(): Promise<void> {
    try {
      await this.now();
    } catch (error) {
      // That they end is no failure.
      if (error !== this.#end.reason) this.#report(error);
    }
  }

  #report(error: unknown): void {
    const { onError } = this.#options;
    if (onError === undefined) this.#failure = { error };
    else onError(error);
  }
}

function checkStore(store: SnapshotStore): void {
  const { save, latest } = (store ?? {}) as Partial<SnapshotStore>;
  if (typeof save === 'function' && typeof latest === 'function') return;
  throw new UsageError({
    where: 'checkpointTo',
    got: store instanceof Promise ? 'a promise as store' : 'no store',
    expected: 'a store with save, latest and clear',
    remedy: "Pass `await opfsStore('name')`.",
  });
}
