import { abortError, internalError } from '../../core/errors.ts';
import { macrotask } from '../../core/async/macrotask.ts';
import type { Invocation } from '../invocation.ts';
import { discard, type Value } from '../values/value.ts';

/** How a call is known, and stopped. */
export interface CallTerms {
  readonly signal?: AbortSignal | undefined;
  /** See {@link CallInFlight.entry}. */
  readonly entry?: string | undefined;
}

/** A call with a stack of its own, which can be cancelled while it waits. */
export class CallInFlight {
  readonly invocation: Invocation;
  /** The function that was called from outside; undefined for a call by `toFunction`. */
  readonly entry: string | undefined;
  cancellation: Error | undefined;
  #rejectWait: ((error: Error) => void) | undefined;
  #pending: Promise<unknown> | undefined;
  #unlisten: (() => void) | undefined;

  constructor(invocation: Invocation, { signal, entry }: CallTerms) {
    this.invocation = invocation;
    this.entry = entry;
    if (signal === undefined) return;
    const onAbort = (): void => this.cancel(abortError(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    this.#unlisten = () => signal.removeEventListener('abort', onAbort);
  }

  cancel(error: Error): void {
    this.cancellation ??= error;
    this.#rejectWait?.(this.cancellation);
  }

  /** The value of a promise that works on the call's values; rejects when the call is cancelled. */
  wait<T extends Value | void>(pending: Promise<T>): Promise<T> {
    this.#pending = pending;
    return new Promise<T>((resolve, reject) => {
      this.#rejectWait = reject;
      pending.then(
        (value) => this.#settle(value, resolve),
        (error: unknown) => {
          this.#pending = undefined;
          reject(error);
        },
      );
    });
  }

  /** Lets others have their turn. Nobody works on the call's values meanwhile. */
  pause(): Promise<void> {
    return this.idle(macrotask());
  }

  /** Waits while nobody works on the call's values. */
  idle(until: Promise<void>): Promise<void> {
    if (this.cancellation !== undefined) return Promise.reject(this.cancellation);
    const turn = this.wait(until);
    this.#pending = undefined;
    return turn;
  }

  /** Throws the cancellation of a call that was cancelled while its code ran. */
  abandon(pending: Promise<Value> | undefined): never {
    this.#pending = pending?.then(discard, () => undefined);
    throw this.cancellation ?? internalError('the call was not cancelled');
  }

  /** Whoever still works on the arguments of a cancelled call keeps them until it is done. */
  unwind(): void {
    this.#unlisten?.();
    const pending = this.#pending;
    const unwind = () => this.invocation.unwind();
    if (pending === undefined) unwind();
    else pending.then(unwind, unwind);
  }

  #settle<T extends Value | void>(value: T, resolve: (value: T) => void): void {
    this.#pending = undefined;
    if (this.cancellation === undefined) resolve(value);
    else if (value !== undefined) discard(value);
  }
}
