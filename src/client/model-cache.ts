import { requireImport } from '../core/require-import.ts';
import type { ModelCache } from '../downloads/model-cache.ts';

/** The files that the browser keeps for this site, see {@link ModelCache}. Its code is loaded when it is asked. */
export const modelCache: ModelCache = {
  list: async () => (await load()).list(),
  clear: async (url) => (await load()).clear(url),
};

async function load(): Promise<ModelCache> {
  await requireImport();
  return (await import('../downloads/model-cache.ts')).modelCache;
}
