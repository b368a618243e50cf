import type { PausedCall } from '../../core/contracts/paused-call.ts';
import type { DeviceTensor } from '../values/device-tensor.ts';
import type { Tensor } from '../values/tensor.ts';
import type { OutputValue } from '../values/session-value.ts';

/** Values that are stored beside the runs. */
export interface SnapshotContents {
  /** Tensors that the page keeps between runs, by names of its own. */
  readonly tensors?: Readonly<Record<string, Tensor | DeviceTensor>>;
  /** Any text. */
  readonly note?: string;
}

/** Values that a snapshot stores beside the runs. */
export interface SnapshotOptions extends SnapshotContents {
  /** Gives up, and rejects with the reason of the signal; the session goes on as before. */
  readonly signal?: AbortSignal | undefined;
}

/** How the results of a run that goes on are taken. */
export interface ResultOptions {
  /** Stops the run. */
  readonly signal?: AbortSignal | undefined;
  /** Where the results stay. Default `host`. */
  readonly keep?: 'host' | 'device';
}

/** A run that goes on, from the place at which it was stored. */
export interface ResumedRun extends PausedCall {
  /** Its results, as `Session.run` gives them; to be asked for once. */
  result(options: ResultOptions & { keep: 'device' }): Promise<Record<string, DeviceTensor>>;
  result<Output extends OutputValue = Tensor>(
    options?: ResultOptions,
  ): Promise<Record<string, Output>>;
}

/** The content of the snapshot that a session was resumed from. */
export interface ResumedState {
  /** The runs of the snapshot that go on, in the order in which they were called. */
  readonly runs: readonly ResumedRun[];
  /** The `tensors` of the snapshot; each is a DeviceTensor of the session. */
  readonly tensors: Readonly<Record<string, OutputValue>>;
  /** The text that was stored. */
  readonly note: string;
}

/** How often checkpoints are taken, and what they hold. */
export interface CheckpointOptions {
  /** Milliseconds from the end of one checkpoint to the begin of the next. Default 5000. */
  readonly everyMs?: number;
  /** Asked before each checkpoint what to store beside the runs. */
  readonly contents?: (() => SnapshotContents) | undefined;
  /**
   * Called for a checkpoint that failed; the next one is tried all the same. Without it a failure ends
   * the checkpoints, and `stop` rejects with it.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Ends the checkpoints. */
  readonly signal?: AbortSignal | undefined;
}
