import { UsageError } from '../core/errors.ts';
import { Connection, hasWorkers } from './connection.ts';

export interface WorkerOptions {
  /** Which worker, as in `LoadOptions`. */
  readonly worker?: boolean | (() => Worker);
  /** With `worker: false`: the WebGPU of the sessions, as in `LoadOptions`. */
  readonly gpu?: GPU;
  /**
   * The most bytes that the sessions together hold on a device. Weights of idle ones leave it, the
   * least recently used first, and come back when they are needed. Default: no bound.
   */
  readonly memoryBudget?: number;
}

/**
 * Has the sessions that are loaded from now on share their device: one budget for memory, and turns
 * batch by batch. They are built again when the device is lost. Throws UsageError.
 */
export function configureWorker(options: WorkerOptions): void {
  const { worker = hasWorkers(), gpu, memoryBudget } = options;
  if (memoryBudget !== undefined && !(memoryBudget > 0)) {
    throw new UsageError(
      `configureWorker: got memoryBudget ${String(memoryBudget)}, expected bytes.`,
    );
  }
  Connection.configure({ worker, gpu }, { memoryBudget });
}
