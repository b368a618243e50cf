import type { Plugin } from 'vite';

/** Chunks by what imports their modules. */
interface ChunkOptions {
  /** The name that a module gives to all that it imports statically, and to itself; undefined for most. */
  readonly nameOf: (id: string, isEntry: boolean) => string | undefined;
  /**
   * The chunk of modules with these names, in the order of the alphabet; undefined where the bundler decides. What a module imports
   * has its names and more: chunks that are told apart by all of them never import each other in a circle.
   */
  readonly chunkOf: (names: readonly string[], id: string) => string | undefined;
}

/** What is imported later and has no name gives this one. */
const OTHER = 'other';

/** Puts modules that are fetched together into one chunk: a page waits for each file that it asks for. */
export function chunksByImporters({ nameOf, chunkOf }: ChunkOptions): Plugin {
  const known = new Map<string, ReadonlySet<string>>();
  return {
    name: 'weft:chunks-by-importers',
    outputOptions: (options) => ({
      ...options,
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          {
            name(id, graph) {
              const namesOf = (module: string): ReadonlySet<string> => {
                const answer = known.get(module);
                if (answer !== undefined) return answer;
                known.set(module, new Set());
                const info = graph.getModuleInfo(module);
                const isLater = (info?.dynamicImporters.length ?? 0) > 0;
                const own = nameOf(module, info?.isEntry === true) ?? (isLater ? OTHER : undefined);
                const names = new Set(own === undefined ? [] : [own]);
                for (const importer of info?.importers ?? []) {
                  for (const name of namesOf(importer)) names.add(name);
                }
                known.set(module, names);
                return names;
              };
              if (graph.getModuleInfo(id)?.isEntry === true) return null;
              return chunkOf([...namesOf(id)].sort(), id) ?? null;
            },
          },
        ],
      },
    }),
  };
}

/** What devices and models need beside the machine, by the chunk that it is fetched in. */
const PARTS: Readonly<Record<string, string>> = {
  'auto/open-auto.ts': 'load',
  'sources/load-files.ts': 'load',
  'sources/source-files.ts': 'load',
  'devices/open-wasm.ts': 'wasm',
  'devices/open-webgpu.ts': 'webgpu',
  'kernels/sampled-launches.ts': 'webgpu',
  'host/prepare-host-kernels.ts': 'host',
  'tools/session-tools.ts': 'tools',
  'pictures/answer-pictures.ts': 'pictures',
  'pictures/prepare-elements.ts': 'pictures',
};

/**
 * Puts all that the entry of a worker imports statically into a chunk of its own, so that no chunk imports the
 * entry: WebKit evaluates it a second time where one does. Fails the build where one still does.
 */
export function workerChunks(): Plugin[] {
  const chunks = chunksByImporters({
    nameOf: (id, isEntry) => (isEntry ? 'machine' : PARTS[nameIn(id)]),
    chunkOf(names) {
      if (names.includes('machine')) return 'machine';
      return names.every((name) => name === OTHER) ? undefined : names.join('-');
    },
  });
  const check: Plugin = {
    name: 'weft:entry-chunk',
    generateBundle(_, bundle) {
      const files = Object.values(bundle).filter((file) => file.type === 'chunk');
      const entries = new Set(files.flatMap((chunk) => (chunk.isEntry ? [chunk.fileName] : [])));
      for (const { fileName, imports } of files) {
        const entry = imports.find((file) => entries.has(file));
        if (entry !== undefined) this.error(`${fileName} imports ${entry}, the entry of a worker.`);
      }
    },
  };
  return [chunks, check];
}

/** What pages fetch later, by the chunk that it is fetched in. */
const LATER: Readonly<Record<string, string>> = {
  'client/kept-source.ts': 'files',
  'client/model-cache.ts': 'files',
  'ocr/page-reader.ts': 'pictures',
  'pictures/picture-batch.ts': 'pictures',
};

/**
 * Puts what the demo shows its first result with into few chunks: what only the demo imports, what other pages import too, and what
 * comes with the first picture. Its script stays alone: it is run by whoever fetches its chunk.
 */
export function homeChunks(): Plugin {
  return chunksByImporters({
    nameOf(id, isEntry) {
      if (isEntry) return id.endsWith('/index.html') ? 'home' : 'pages';
      return LATER[nameIn(id)];
    },
    chunkOf: (names, id) =>
      id.endsWith('/demo/main.ts') || names.every((name) => name === OTHER || name === 'pages')
        ? undefined
        : names.join('-'),
  });
}

/** The file in its folder. */
const nameIn = (id: string): string => id.split('/').slice(-2).join('/');
