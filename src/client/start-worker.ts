/** Starts the worker that the sessions of a page share. */
export function startWorker(): Worker {
  return new Worker(new URL('../worker/worker-main.ts', import.meta.url), { type: 'module' });
}
