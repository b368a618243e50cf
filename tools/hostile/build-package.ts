import { fileURLToPath, pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { build, loadConfigFromFile } from 'vite';
import type { Client } from './load-beside.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Builds the package into a folder, as it is published. Resolves to its client. */
export async function buildPackage(outDir: string): Promise<Client> {
  const loaded = await loadConfigFromFile(
    { command: 'build', mode: 'production' },
    join(ROOT, 'scripts/library.config.ts'),
  );
  if (loaded === null) throw new Error('internal: no configuration of the library');
  const { config } = loaded;
  await build({
    ...config,
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    build: { ...config.build, outDir },
  });
  return import(pathToFileURL(join(outDir, 'client.js')).href) as Promise<Client>;
}
