import {
  type CheckpointOptions,
  FormatError,
  opfsStore,
  type ResumedState,
  type Session,
  type SnapshotStore,
  UnsupportedError,
  UsageError,
} from '../client/index.ts';
import { SNAPSHOT_FOLDER } from '../core/snapshot-folder.ts';
import { type OpenOptions, openSession, resumeSession } from './open-session.ts';

const EVERY_MS = 1000;

/** A session that goes on with what was stored. */
export type Resumed = Session & { readonly resumed: ResumedState };

/** The contents of a snapshot beside the machine, and the handler of errors of storing it. */
export type KeptContents = Required<Pick<CheckpointOptions, 'contents' | 'onError'>>;

/** Keeps a session in the browser, so that it goes on when the page is opened again. */
export class KeptSession {
  readonly #source: string;
  readonly #name: string;
  readonly #options: OpenOptions;
  #store: SnapshotStore | undefined;

  /** `name` is that of the store, one for each program. */
  constructor(source: string, name: string, options: OpenOptions = {}) {
    this.#source = source;
    this.#name = name;
    this.#options = options;
  }

  /** The session as another page hands it over, as it was kept, or a new one. Rejects where it cannot take over. */
  async open(onStatus: (text: string) => void, arrived?: Uint8Array): Promise<Session | Resumed> {
    const resume = (bytes: Uint8Array): Promise<Resumed> =>
      resumeSession(bytes, { executable: this.#source, ...this.#options }, onStatus);
    if (arrived !== undefined) return resume(arrived);
    const kept = await this.#latest();
    try {
      if (kept !== undefined) return await resume(kept);
    } catch (error) {
      if (!isUnfit(error)) throw error;
      // Of another version of the program, say.
      await this.forget();
    }
    return openSession(this.#source, onStatus, this.#options);
  }

  /** The next time it begins anew. */
  async forget(): Promise<void> {
    await (await this.#openStore())?.clear();
  }

  /** From now on, until the signal is aborted. */
  async keep(session: Session, contents: KeptContents, signal?: AbortSignal): Promise<void> {
    const store = await this.#openStore();
    if (store === undefined) return;
    await session.checkpointTo(store, { everyMs: EVERY_MS, ...contents, signal });
  }

  async #latest(): Promise<Uint8Array | undefined> {
    if (!(await wasKept(this.#name))) return undefined;
    return whereKept(async () => (await this.#openStore())?.latest());
  }

  async #openStore(): Promise<SnapshotStore | undefined> {
    this.#store ??= await whereKept(() => opfsStore(this.#name));
    return this.#store;
  }
}

/**
 * Resolves to true if there is a store of this name. Looks without the code that reads stores,
 * which need not load where there is none.
 */
async function wasKept(name: string): Promise<boolean> {
  try {
    const root = await navigator.storage.getDirectory();
    const stores = await root.getDirectoryHandle(SNAPSHOT_FOLDER);
    await stores.getDirectoryHandle(name);
    return true;
  } catch {
    return false;
  }
}

/** Undefined where nothing can be kept: the program begins anew each time. */
async function whereKept<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (isUnfit(error) || error instanceof DOMException) return undefined;
    throw error;
  }
}

function isUnfit(error: unknown): boolean {
  return (
    error instanceof FormatError || error instanceof UsageError || error instanceof UnsupportedError
  );
}
