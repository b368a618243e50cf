import type { Invocation } from './invocation.ts';
import type { Value } from './value.ts';

/** What is told about the calls of a machine in order to pause them; see `snapshot/`. */
export interface RunHooks {
  /** What a call from outside waits for before it begins. */
  admission(): Promise<void> | undefined;
  /** Asked between two instructions, once for each slice: what the call waits for before the next. */
  between(call: CallInFlight): Promise<void> | undefined;
  /** A call is over, however it ended. */
  ended(call: CallInFlight): void;
  /** The machine is over. */
  close(): void;
}

/** A call with a stack of its own. */
export interface CallInFlight {
  readonly invocation: Invocation;
  /** The function that was called from outside; undefined for a call by `toFunction`. */
  readonly entry: string | undefined;
  /** The value of a promise that works on the call's values; rejects when the call is cancelled. */
  wait<T extends Value | void>(pending: Promise<T>): Promise<T>;
  /** Waits while nobody works on the call's values. */
  idle(until: Promise<void>): Promise<void>;
}
