import { Session } from '../../src/client/index.ts';
import type { KernelTuning } from '../../src/worker/protocol/control-request.ts';
import type { RuntimeResult } from '../race.ts';
import { sourceAt } from '../page/runtime.ts';
import { modelCase, modelInputs, type ReportModel } from './model-case.ts';
import { timeModel } from './time-models.ts';

/** The result of tuning a model, and the model's time with it. */
export interface ModelTuning {
  readonly name: string;
  /** False when there was no time for all kernels. */
  readonly isComplete: boolean;
  readonly kernels: readonly KernelTuning[];
  readonly after: RuntimeResult;
}

interface TuneLimits {
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** Ends tuning; what was found by then is kept. */
  readonly limitMs: number;
}

/** Tunes the kernels of a model for the sizes of the report. Rejects with the reason of the signal. */
export async function tuneModel(
  model: ReportModel,
  { signal, limitMs }: TuneLimits,
): Promise<ModelTuning> {
  const { executable } = await modelCase(model);
  await using session = await Session.load(sourceAt(executable), { device: 'webgpu' });
  await session.run(modelInputs(session, model));
  const kernels: KernelTuning[] = [];
  const timeout = AbortSignal.timeout(Math.max(0, limitMs));
  const isComplete = await session
    .tune({
      signal: AbortSignal.any([signal, timeout]),
      onProgress: ({ kernels: done }) => kernels.push(...done),
    })
    .then(
      (report) => {
        kernels.splice(0, Infinity, ...report.kernels);
        return true;
      },
      (error: unknown) => {
        signal.throwIfAborted();
        if (timeout.aborted) return false;
        throw error;
      },
    );
  const { result } = await timeModel(model, 'webgpu');
  return { name: model.name, isComplete, kernels, after: result };
}
