import { DeviceLostError, WorkerError } from '../../core/errors.ts';
import type { KernelTuning } from '../../worker/protocol/control-request.ts';
import type { Dims } from '../../worker/protocol/dispatch-sizes.ts';
import { checkOptions, type OptionKinds } from '../../core/check-options.ts';
import { askTool, type ToolSession } from './ask-tool.ts';

/** The kernels to tune, and when. */
export interface TuneOptions {
  /** Ends the tuning, which then rejects with the reason of the signal; what was chosen stays. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each kernel that is done. */
  readonly onProgress?: ((progress: TuneProgress) => void) | undefined;
  /** Sizes of symbolic dimensions to tune for, beside those of runs so far; those not given are 1. */
  readonly dims?: Dims | undefined;
  /**
   * Measures only while nothing has used the device for a while, so that no run waits for longer than
   * one measurement takes, and leaves alone what was tuned before, on earlier visits too. Resolves with
   * what was found until then when the session is disposed of, or device or worker are lost. Default false.
   */
  readonly idle?: boolean | undefined;
}

/** How many kernels are tuned, of all. */
export interface TuneProgress {
  /** Kernels that are done. */
  readonly loaded: number;
  readonly total: number;
  readonly kernels: readonly KernelTuning[];
}

/** The findings of tuning. */
export interface TuningReport {
  /** Kernels that there was something to choose for, for each size. */
  readonly kernels: readonly KernelTuning[];
  /** True if choices were stored for later visits; false in Node. */
  readonly isStored: boolean;
  /** False when `idle` tuning ended with its session. */
  readonly isComplete: boolean;
}

const TUNE_OPTIONS: OptionKinds<TuneOptions> = {
  signal: 'signal',
  onProgress: 'function',
  dims: 'sizes',
  idle: 'boolean',
};

export interface TunedSession extends ToolSession {
  readonly closed: AbortSignal;
  warmup(dims: Dims, options: { signal?: AbortSignal }): Promise<void>;
}

/** See `Session.tune`. Kernel by kernel, so that others have the device in between. */
export async function tuneSession(
  session: TunedSession,
  options: TuneOptions,
): Promise<TuningReport> {
  checkOptions('tune', options, TUNE_OPTIONS);
  const { signal, onProgress, dims, idle } = options;
  signal?.throwIfAborted();
  const kernels: KernelTuning[] = [];
  let isStored = false;
  const report = (isComplete: boolean) => ({ kernels, isStored, isComplete });
  try {
    if (dims !== undefined) await session.warmup(dims, signal === undefined ? {} : { signal });
    for (let index = 0, total = 1; index < total; index++) {
      const { answer: tuning } = await askTool(session, ['tune', { index, idle }], { signal });
      if (tuning === undefined) break;
      total = tuning.count;
      isStored ||= tuning.isStored;
      kernels.push(...tuning.kernels);
      if (index < total) onProgress?.({ loaded: index + 1, total, kernels: tuning.kernels });
    }
    return report(true);
  } catch (error) {
    const isOver =
      session.closed.aborted || error instanceof DeviceLostError || error instanceof WorkerError;
    if (idle === true && isOver && signal?.aborted !== true) return report(false);
    throw error;
  }
}
