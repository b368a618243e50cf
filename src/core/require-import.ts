import { WorkerError } from './errors.ts';

/**
 * Rejects with WorkerError where `import()` is forbidden: in a service worker, unless its entry has all code at
 * once (`scripts/static.config.ts`).
 */
export async function requireImport(): Promise<void> {
  try {
    // Any file that loads on demand tells.
    if (isServiceWorker()) await import('./bytes/software-sha256.ts');
  } catch (cause) {
    const complaint = {
      got: 'a service worker, which allows no import()',
      expected: 'an entry that has all code at once',
      remedy: 'Import from weft-vm/static, weft-vm/static/text or weft-vm/static/tasks.',
    };
    throw new WorkerError(complaint, { cause });
  }
}

export const isServiceWorker = (): boolean => 'ServiceWorkerGlobalScope' in globalThis;
