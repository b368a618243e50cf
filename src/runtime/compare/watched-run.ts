import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { CodePlace } from '../../core/contracts/paused-call.ts';

/** A call of a kernel that has returned, in a run that waits. */
export interface WatchedCall {
  readonly kernel: string;
  readonly at: CodePlace | undefined;
  results(): Promise<readonly HostTensor[]>;
  /** Reads the tensors that it was given, also where its results lie in the same memory. */
  inputs(): Promise<readonly HostTensor[]>;
}

export interface WatchOptions {
  readonly functionName: string;
  /** `inputs` of calls may be asked for. Of kernels that write over them they are read before each call. */
  readonly keepsInputs: boolean;
  /** `results` of all calls will be asked for. */
  readonly readsResults: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Takes calls in the order in which they are made. The run goes on when it has resolved; its error ends the run. */
export type OnWatchedCall = (call: WatchedCall) => Promise<void>;

/** A run of a program whose kernels are watched, on a device of this side or of another one. */
export interface WatchedRun {
  /** Runs a function to its end. Rejects as a run does, and with what `onCall` throws. */
  run(onCall: OnWatchedCall, options: WatchOptions): Promise<void>;
}
