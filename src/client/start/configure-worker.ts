import type { GpuDeviceLike, GpuLike } from '../../core/contracts/gpu-like.ts';
import { checkOptions, either, GPU_KIND, type OptionKinds } from '../../core/check-options.ts';
import { Connection, hasWorkers } from './connection.ts';

/** Settings that the sessions of one worker share. */
export interface WorkerOptions {
  /** Which worker, as in `LoadOptions`. */
  readonly worker?: boolean | (() => Worker);
  /** The folder of the worker's files, as in `LoadOptions`. */
  readonly workerFiles?: string | URL;
  /** With `worker: false`: the WebGPU of the sessions, as in `LoadOptions`. */
  readonly gpu?: GpuLike | GpuDeviceLike;
  /**
   * The most bytes that the sessions together hold on a device. Weights of idle ones leave it, the
   * least recently used first, and come back when they are needed. Default: no bound.
   */
  readonly memoryBudget?: number;
  /**
   * How many milliseconds a worker stays when its last session is disposed of: starting another takes longer than a
   * load of a small model. Default 10,000.
   */
  readonly idleMs?: number;
}

const WORKER_OPTIONS: OptionKinds<WorkerOptions> = {
  worker: either('boolean', 'function'),
  workerFiles: 'address',
  gpu: GPU_KIND,
  memoryBudget: 'bytes',
  idleMs: ['milliseconds from 0', (value) => Number.isFinite(value) && Number(value) >= 0],
};

/**
 * Has the sessions that are loaded from now on share their device: one budget for memory, and turns
 * batch by batch. They are built again when the device is lost. With `idleMs` alone they share nothing. Throws UsageError.
 */
export function configureWorker(options: WorkerOptions): void {
  checkOptions('configureWorker', options, WORKER_OPTIONS);
  const { worker = hasWorkers(), workerFiles, gpu, memoryBudget, idleMs } = options;
  const choice = { worker, workerFiles, gpu };
  if (idleMs !== undefined) Connection.stayIdle(choice, idleMs);
  if (idleMs === undefined || memoryBudget !== undefined) {
    Connection.configure(choice, { memoryBudget });
  }
}
