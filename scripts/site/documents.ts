import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runNode } from '../package-checks/run.mjs';
import { buildDocuments } from './build-site.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** `node scripts/run-ts.mjs scripts/site/documents.ts FOLDER`: the documentation and the reference beside pages that are built. */
export async function main([folder = 'dist-page']: readonly string[]): Promise<number> {
  const reference = await runNode([`${root}scripts/api-reference.mjs`], { cwd: root });
  if (!reference.isGood) throw new Error(`npm run api failed:\n${reference.output}`);
  const { complaints } = await buildDocuments({ root, out: resolve(root, folder) });
  for (const complaint of complaints) console.error(complaint);
  return complaints.length === 0 ? 0 : 1;
}
