import type { ControlReply, ControlRequest, Dims, KernelTuning } from '../worker/protocol.ts';

export interface TuneOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TuneProgress) => void) | undefined;
  /** Sizes of symbolic dimensions to tune for, beside those of runs so far; those not given are 1. */
  readonly dims?: Dims | undefined;
}

/** Kernels done, of all. */
export interface TuneProgress {
  readonly loaded: number;
  readonly total: number;
  /** What was found last. */
  readonly kernels: readonly KernelTuning[];
}

export interface TuningReport {
  /** Kernels that there was something to choose for, for each size. */
  readonly kernels: readonly KernelTuning[];
  /** Whether later visits find the choices; false in Node. */
  readonly isStored: boolean;
}

/** What is needed of a session. */
export interface TunedSession {
  warmup(dims: Dims, options: { signal?: AbortSignal }): Promise<void>;
  control(
    request: ControlRequest,
    options: { readonly signal?: AbortSignal | undefined },
  ): Promise<ControlReply>;
}

/** See `Session.tune`. Kernel by kernel, so that others have the device in between. */
export async function tuneSession(
  session: TunedSession,
  { signal, onProgress, dims }: TuneOptions,
): Promise<TuningReport> {
  signal?.throwIfAborted();
  if (dims !== undefined) await session.warmup(dims, signal === undefined ? {} : { signal });
  const kernels: KernelTuning[] = [];
  let isStored = false;
  for (let index = 0, total = 1; index < total; index++) {
    const { tuning } = await session.control({ kind: 'tune', index, args: [] }, { signal });
    if (tuning === undefined) break;
    total = tuning.count;
    isStored ||= tuning.isStored;
    kernels.push(...tuning.kernels);
    if (index < total) onProgress?.({ loaded: index + 1, total, kernels: tuning.kernels });
  }
  return { kernels, isStored };
}
