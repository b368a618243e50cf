import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * A path in ../shared: models and operator cases of others, which are no part of this repository.
 * For `*.shared.test.ts` alone, which run where that folder is (`npm test -- shared`).
 */
export function sharedPath(path: string): string {
  const found = fileURLToPath(new URL(`../../../../shared/${path}`, import.meta.url));
  if (!existsSync(found)) throw new Error(`This test reads ${found}, which is not there.`);
  return found;
}
