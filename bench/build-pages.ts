import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { installPackages } from '../scripts/install-packages.ts';
import packageFile from '../package.json' with { type: 'json' };

const here = dirname(fileURLToPath(import.meta.url));
const library = join(here, 'dist/library');
/** Entries of the library, and the files that they are built to. */
const ENTRIES = new Map([
  [join(here, '../src/client/index.ts'), 'client.js'],
  [join(here, '../src/text/index.ts'), 'text.js'],
]);

/** Where the peers' packages are. */
export const PEER_PACKAGES = join(here, 'node_modules');

/** Installs the peers once, from the lock file. */
export function installPeers(): void {
  const { dependencies } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const name of Object.keys(dependencies)) installPackages(here, name);
}

/**
 * Builds the library as `npm run build` does, and with it `page/page.html`, minified, as the bundler of a user would.
 * Resolves to the page's folder.
 */
export async function buildPages(): Promise<string> {
  const pages = join(here, 'dist/pages');
  console.error('building the library and the pages …');
  await build({
    configFile: join(here, '../scripts/library.config.ts'),
    root: join(here, '..'),
    logLevel: 'error',
    build: { outDir: library },
  });
  await build({
    root: join(here, 'page'),
    configFile: false,
    base: './',
    logLevel: 'error',
    plugins: [useBuiltLibrary()],
    worker: { format: 'es' },
    build: {
      outDir: pages,
      emptyOutDir: true,
      target: 'es2022',
      reportCompressedSize: false,
      chunkSizeWarningLimit: 100_000,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: join(here, 'page/page.html') },
    },
  });
  return pages;
}

/** The page is typed against the library's source and gets its build. */
function useBuiltLibrary(): Plugin {
  return {
    name: 'weft:use-built-library',
    enforce: 'pre',
    async resolveId(id, importer) {
      // The package's own `imports` name files of `dist`.
      const own = Object.entries(packageFile.imports).find(([name]) => name === id)?.[1];
      if (own !== undefined) return join(library, basename(own.default));
      const resolved = await this.resolve(id, importer, { skipSelf: true });
      const built = ENTRIES.get(resolved?.id ?? '');
      return built === undefined ? null : join(library, built);
    },
  };
}
