// Bundles an entry for Node with Vite, so that `?raw` shader imports mean the same as in the page.
// Packages stay imports.
import { builtinModules } from 'node:module';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

const fileOf = (id) => id.replace(/\?.*$/, '');

/** Modules find files by their own address, which in a build would be that of the build. */
function keepAddresses() {
  return {
    name: 'weft:keep-addresses',
    enforce: 'pre',
    transform(code, id) {
      if (!code.includes('import.meta.url') || !isAbsolute(fileOf(id))) return null;
      const address = JSON.stringify(pathToFileURL(fileOf(id)).href);
      return { code: code.replaceAll('import.meta.url', address), map: null };
    },
  };
}

/**
 * Leaves packages to Node. Those of a folder with a package.json of its own, such as bench, are not
 * seen from where the build lies; their files are named instead.
 */
function leavePackages(root) {
  const builtin = new Set(builtinModules);
  const packages = join(root, 'node_modules/');
  return {
    name: 'weft:leave-packages',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (importer === undefined || /^[./\0]/.test(source) || isAbsolute(source)) return null;
      if (source.startsWith('node:') || builtin.has(source)) return { id: source, external: true };
      const found = await this.resolve(source, importer, { skipSelf: true });
      const file = found === null ? undefined : fileOf(found.id);
      if (file === undefined || !isAbsolute(file)) return { id: source, external: true };
      if (file.startsWith(packages)) return { id: source, external: true };
      if (!file.includes('/node_modules/')) return found;
      return { id: pathToFileURL(file).href, external: true };
    },
  };
}

/** Threads of the wasm device, whose file Node has to find: a build of its own beside the others. */
function buildThreads({ root, folder }, built) {
  const source = "'./wasm-thread-main.ts'";
  return {
    name: 'weft:build-threads',
    enforce: 'pre',
    async transform(code, id) {
      // Not this file, which names it too.
      if (!code.includes(source) || !fileOf(id).endsWith('/wasm-thread.ts')) return null;
      const entry = join(dirname(fileOf(id)), 'wasm-thread-main.ts');
      const { chunks, sources } = await buildEntry(entry, { root, folder, alias: {} });
      built.push({ chunks, sources });
      const address = pathToFileURL(join(folder, chunks[0].name)).href;
      return { code: code.replace(source, JSON.stringify(address)), map: null };
    },
  };
}

function listSources(root, sources) {
  return {
    name: 'weft:list-sources',
    buildEnd() {
      for (const id of this.getModuleIds()) {
        const file = fileOf(id);
        if (isAbsolute(file)) sources.add(relative(root, file));
      }
    },
  };
}

/** A build of Vite sets NODE_ENV, by which npm would leave out what tests need. */
async function buildAsBefore(config) {
  const { NODE_ENV } = process.env;
  try {
    return await build(config);
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
  }
}

const exactly = (name) => new RegExp(`^${name.replaceAll(/[^\w-]/g, '\\$&')}$`);

/** The chunks of an entry, itself first, and the files they are made of, relative to `root`. */
export async function buildEntry(entry, { root, folder, alias }) {
  const sources = new Set();
  const threads = [];
  const { output } = await buildAsBefore({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    resolve: {
      alias: Object.entries(alias).map(([name, file]) => ({
        find: exactly(name),
        replacement: file,
      })),
    },
    plugins: [
      keepAddresses(),
      leavePackages(root),
      buildThreads({ root, folder }, threads),
      listSources(root, sources),
    ],
    build: {
      ssr: entry,
      // Nothing is written, but the maps name sources from there.
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      write: false,
      sourcemap: true,
      rolldownOptions: {
        output: { entryFileNames: '[name]-[hash].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  });
  const chunks = output.map((file) => ({
    name: file.fileName,
    isEntry: file.isEntry === true,
    text: file.type === 'chunk' ? file.code : file.source,
  }));
  chunks.sort((a, b) => Number(b.isEntry) - Number(a.isEntry));
  return {
    chunks: [...chunks, ...threads.flatMap((thread) => thread.chunks)],
    sources: [...sources, ...threads.flatMap((thread) => thread.sources)],
  };
}
