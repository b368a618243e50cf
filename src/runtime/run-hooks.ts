import type { Invocation } from './invocation.ts';
import type { PendingReplay } from './replay-store.ts';
import type { Value } from './value.ts';

/** What is told about the calls of a machine in order to pause them; see `snapshot/`. */
export interface RunHooks {
  /** Whether code must run, and no recording of it may be replayed: there are breakpoints. */
  readonly mustInterpret: boolean;
  /** What a call from outside waits for before it begins. */
  admission(): Promise<void> | undefined;
  /** Asked between two instructions, once for each slice: what the call waits for before the next. */
  between(call: CallInFlight): Promise<void> | undefined;
  /** A call is over, however it ended. */
  ended(call: CallInFlight): void;
  /** The machine is over. */
  close(): void;
}

/** Shares a device with other machines; see `worker/sharing`. */
export interface Turns {
  /** Resolves when the device is the call's, for one batch of launches. */
  take(call: CallInFlight): Promise<Turn>;
  /** Enqueues all of a replay, batch by batch; false when a buffer of it went meanwhile. */
  replay(call: CallInFlight, replay: PendingReplay): Promise<boolean>;
}

export interface Turn {
  /** Launches of the batch, about. */
  readonly launchLimit: number;
  /** Lets the next one have the device. */
  end(): void;
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
