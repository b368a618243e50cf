import { abortError, internalError } from '../../core/errors.ts';

/** A session as the memory of its device sees it. */
export interface ResidentSession {
  /** Its weights stay on the device. */
  readonly isPinned: boolean;
  /** True while its weights are on the device. */
  readonly isResident: boolean;
  /** Bytes of its weights, on the device or not. */
  readonly weightBytes: number;
  /** Bytes of tensors that it holds. */
  readonly liveBytes: number;
  /** Bytes of tensors that one run took so far, at the most; undefined before the first one. */
  readonly runBytes: number | undefined;
  /** So many runs at a time, at the most, came to their end. */
  countRuns(count: number): void;
  /** Takes the weights from the device at once. */
  evict(): void;
}

/** Runs that may overtake one that waits: they would find their weights gone if they waited too. */
const MAX_OVERTAKEN = 8;

interface AdmissionOptions {
  readonly byteBudget: () => number;
  /** A clock, in any unit. */
  readonly now: () => number;
}

export interface EnterOptions {
  readonly signal?: AbortSignal | undefined;
  /** Waits until nothing runs, and keeps other runs out. */
  readonly alone?: boolean;
  /** True if weights are loaded, false for a run. */
  readonly isLoading?: boolean;
  /** Goes in at once while a run of its session is under way, which may wait for it. It counts as a part of that run. */
  readonly joins?: boolean;
}

interface SessionUse {
  /** How many runs are under way. */
  users: number;
  /** The most at a time, since there were none. */
  mostUsers: number;
  lastUse: number;
}

interface Waiter {
  readonly session: ResidentSession;
  readonly alone: () => boolean;
  readonly isLoading: boolean;
  readonly admit: () => void;
  /** Runs that were let in before it though they came later. */
  overtaken: number;
}

/**
 * Who may run on a device, so that the weights and tensors of all that run fit its budget together.
 * A run is let in when what it is known to need fits beside what runs; otherwise it waits, in
 * order of arrival, but a few runs that find their weights on the device may overtake it. The first run of a session, of which nothing is known, goes alone, and so does one
 * that would not fit beside any other.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #uses = new Map<ResidentSession, SessionUse>();
  readonly #waiting: Waiter[] = [];
  /** A run keeps the others out. */
  #isExclusive = false;
  /** Runs under way, of all sessions. */
  #userCount = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#uses.size === 0;
  }

  add(session: ResidentSession): void {
    this.#uses.set(session, { users: 0, mostUsers: 0, lastUse: this.#options.now() });
  }

  remove(session: ResidentSession): void {
    const { users } = this.#use(session);
    this.#uses.delete(session);
    this.#drop(users);
  }

  /** Resolves when a run of the session may begin; {@link leave} ends it. */
  enter(session: ResidentSession, options: EnterOptions = {}): Promise<void> {
    const { signal, isLoading = false } = options;
    return new Promise((resolve, reject) => {
      const alone = (): boolean =>
        options.alone === true || (!isLoading && session.runBytes === undefined);
      const abort = (): void => {
        const index = this.#waiting.indexOf(waiter);
        if (index >= 0) this.#waiting.splice(index, 1);
        reject(signal === undefined ? undefined : abortError(signal));
        this.#admitWaiting();
      };
      const admit = (): void => {
        signal?.removeEventListener('abort', abort);
        const use = this.#use(session);
        use.users++;
        if (!isLoading) use.mostUsers = Math.max(use.mostUsers, use.users);
        this.#userCount++;
        this.#isExclusive = alone();
        resolve();
      };
      const { users } = this.#use(session);
      if (options.joins === true && users > 0) return this.#join(session, resolve);
      const waiter: Waiter = { session, alone, isLoading, admit, overtaken: 0 };
      this.#waiting.push(waiter);
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort, { once: true });
      this.#admitWaiting();
    });
  }

  #join(session: ResidentSession, resolve: () => void): void {
    this.#use(session).users++;
    this.#userCount++;
    resolve();
  }

  leave(session: ResidentSession): void {
    const use = this.#uses.get(session);
    if (use === undefined) return;
    use.users--;
    use.lastUse = this.#options.now();
    if (use.users === 0) {
      if (use.mostUsers > 0) session.countRuns(use.mostUsers);
      use.mostUsers = 0;
    }
    this.#drop(1);
  }

  /** Evicts idle sessions, the least recently used first, until so many bytes are free. */
  makeRoom(byteLength: number): void {
    const idle = [...this.#uses]
      .filter(([session, { users }]) => users === 0 && session.isResident && !session.isPinned)
      .sort(([, a], [, b]) => a.lastUse - b.lastUse);
    let freed = 0;
    for (const [session] of idle) {
      if (freed >= byteLength) return;
      if (session.weightBytes === 0) continue;
      freed += session.weightBytes;
      session.evict();
    }
  }

  #drop(users: number): void {
    this.#userCount -= users;
    if (this.#userCount === 0) this.#isExclusive = false;
    this.#admitWaiting();
  }

  #use(session: ResidentSession): SessionUse {
    const use = this.#uses.get(session);
    if (use === undefined) throw internalError('a session runs that was not added');
    return use;
  }

  #admitWaiting(): void {
    for (let next = this.#nextWaiter(); next !== undefined; next = this.#nextWaiter()) {
      const index = this.#waiting.indexOf(next);
      this.#waiting.splice(index, 1);
      for (const earlier of this.#waiting.slice(0, index)) earlier.overtaken++;
      next.admit();
    }
  }

  /** The first one, or one whose weights are there as long as nobody before it waits for too long. */
  #nextWaiter(): Waiter | undefined {
    for (const [index, waiter] of this.#waiting.entries()) {
      const isNext = index === 0 || waiter.session.isResident;
      if (isNext && this.#isAdmissible(waiter)) return waiter;
      if (waiter.overtaken >= MAX_OVERTAKEN) return undefined;
    }
    return undefined;
  }

  #isAdmissible({ session, alone, isLoading }: Waiter): boolean {
    if (this.#userCount === 0) return true;
    if (alone() || this.#isExclusive) return false;
    let needed = 0;
    for (const [other, use] of this.#uses) {
      const isOwn = other === session;
      const users = use.users + (isOwn && !isLoading ? 1 : 0);
      const isActive = isOwn || users > 0;
      if (isActive || (other.isPinned && other.isResident)) needed += other.weightBytes;
      needed += Math.max(other.liveBytes, users * (other.runBytes ?? 0));
    }
    return needed <= this.#options.byteBudget();
  }
}
