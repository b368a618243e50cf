import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

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
  if (Object.keys(dependencies).every((name) => existsSync(join(PEER_PACKAGES, name)))) return;
  console.error('installing the runtimes to compare with (bench/package.json) …');
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: here, stdio: ['ignore', 2, 2] });
}

/**
 * Builds the library as `npm run build` does, and with it `page.html` of a folder of this one, minified, as the
 * bundler of a user would. Resolves to the page's folder.
 */
export async function buildPages(folder = 'page'): Promise<string> {
  const pages = join(here, 'dist', folder === 'page' ? 'pages' : folder);
  console.error('building the library and the pages …');
  await build({
    configFile: join(here, '../scripts/library.config.ts'),
    root: join(here, '..'),
    logLevel: 'error',
    build: { outDir: library },
  });
  await build({
    root: join(here, folder),
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
      rolldownOptions: { input: join(here, folder, 'page.html') },
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
      const resolved = await this.resolve(id, importer, { skipSelf: true });
      const built = ENTRIES.get(resolved?.id ?? '');
      return built === undefined ? null : join(library, built);
    },
  };
}
