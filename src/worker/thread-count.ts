import { nodeBuiltin } from '../core/node-builtin.ts';
import { canStartThreads } from './own-thread.ts';

/** More of them gain little: kernels wait for memory then. */
const MOST_BY_DEFAULT = 8;

/**
 * Threads that compute, this one included: as many as are wanted, by default all cores but one, which is
 * left to the page. One where threads cannot share memory, or this one starts none.
 */
export function threadCount(wanted: number | undefined): number {
  if (!isIsolated() || !canStartThreads()) return 1;
  return wanted ?? Math.max(1, Math.min(MOST_BY_DEFAULT, coreCount() - 1));
}

/** Whether threads may share memory: a page must be cross-origin isolated. */
function isIsolated(): boolean {
  const { crossOriginIsolated } = globalThis as { crossOriginIsolated?: boolean };
  return 'SharedArrayBuffer' in globalThis && crossOriginIsolated !== false;
}

function coreCount(): number {
  const cores = nodeBuiltin?.('node:os').availableParallelism();
  return cores ?? globalThis.navigator?.hardwareConcurrency ?? 1;
}
