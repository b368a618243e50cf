import { nodeBuiltin } from '../../core/node-builtin.ts';
import { canStartThreads } from './own-thread.ts';

/** More of them gain little: kernels wait for memory then. */
const MOST_BY_DEFAULT = 8;

/**
 * Threads that compute, this one included: as many as are wanted. By default all cores but one, which is
 * left to the page, where threads can share memory; else one. One where this thread starts none.
 */
export function threadCount(wanted: number | undefined): number {
  if (!canStartThreads()) return 1;
  if (!mayShareMemory()) return wanted ?? 1;
  return wanted ?? Math.max(1, Math.min(MOST_BY_DEFAULT, coreCount() - 1));
}

/** Returns true if threads may share memory: a page must be cross-origin isolated. */
export function mayShareMemory(): boolean {
  const { crossOriginIsolated } = globalThis as { crossOriginIsolated?: boolean };
  return 'SharedArrayBuffer' in globalThis && crossOriginIsolated !== false;
}

function coreCount(): number {
  const cores = nodeBuiltin?.('node:os').availableParallelism();
  return cores ?? globalThis.navigator?.hardwareConcurrency ?? 1;
}
