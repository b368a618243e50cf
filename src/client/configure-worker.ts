import type { GpuDeviceLike, GpuLike } from '../core/gpu-like.ts';
import { LOAD_OPTIONS } from './session-options.ts';
import { checkOptions, either, type OptionKinds } from '../core/check-options.ts';
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
}

const WORKER_OPTIONS: OptionKinds<WorkerOptions> = {
  worker: either('boolean', 'function'),
  workerFiles: 'address',
  gpu: LOAD_OPTIONS.gpu,
  memoryBudget: 'bytes',
};

/**
 * Has the sessions that are loaded from now on share their device: one budget for memory, and turns
 * batch by batch. They are built again when the device is lost. Throws UsageError.
 */
export function configureWorker(options: WorkerOptions): void {
  checkOptions('configureWorker', options, WORKER_OPTIONS);
  const { worker = hasWorkers(), workerFiles, gpu, memoryBudget } = options;
  Connection.configure({ worker, workerFiles, gpu }, { memoryBudget });
}
