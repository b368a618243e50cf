import type { CallInFlight } from './calls/call-in-flight.ts';
import type { LinkedFunction } from './link/linked-code.ts';
import type { PendingReplay } from './replay/replay-store.ts';

/** Who else has a say in when the calls of a machine run. */
export interface RunControls {
  /** Drives calls instruction by instruction, in place of the driver's own slices; see `observe/`. */
  readonly stepping: Stepping | undefined;
  /** Set while calls can be paused. */
  readonly hooks: RunHooks | undefined;
  /** Set while other machines use the device too: calls then take turns, batch by batch. */
  readonly turns: Turns | undefined;
}

/** Drives calls for an observer. */
export interface Stepping {
  /** Runs the next instructions of a call that nothing holds; undefined once it is done. */
  between(call: CallInFlight): Promise<void> | undefined;
  /** A call is over, however it ended. */
  ended(call: CallInFlight): void;
}

/** Hooks into the calls of a machine, by which they are paused; see `snapshot/`. */
export interface RunHooks {
  /** True while code must be interpreted, never replayed: there are breakpoints. */
  readonly mustInterpret: boolean;
  /** A promise that a call from outside waits for before it begins. */
  admission(): Promise<void> | undefined;
  /** Asked between two instructions, once for each slice: what the call waits for before the next. */
  between(call: CallInFlight): Promise<void> | undefined;
  /** A call is over, however it ended. */
  ended(call: CallInFlight): void;
  /** Does work while an instruction is as it is without a breakpoint. */
  withoutBreakpoint<T>(callee: LinkedFunction, index: number, work: () => T): T;
  /** Called when the machine is disposed of. */
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
