import type { Plugin } from 'vite';

/**
 * Puts all that the entry of a worker imports statically into a chunk of its own, so that no chunk imports the
 * entry: WebKit evaluates it a second time where one does. Fails the build where one still does.
 */
export function entryChunk(name: string): Plugin {
  const known = new Map<string, boolean>();
  return {
    name: 'weft:entry-chunk',
    outputOptions: (options) => ({
      ...options,
      codeSplitting: {
        groups: [
          {
            name(id, graph) {
              const isImported = (module: string): boolean => {
                const importers = graph.getModuleInfo(module)?.importers ?? [];
                return importers.some((importer) => {
                  if (graph.getModuleInfo(importer)?.isEntry === true) return true;
                  const answer = known.get(importer);
                  if (answer !== undefined) return answer;
                  known.set(importer, false);
                  const found = isImported(importer);
                  known.set(importer, found);
                  return found;
                });
              };
              return isImported(id) ? name : null;
            },
          },
        ],
      },
    }),
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const entries = new Set(chunks.flatMap((chunk) => (chunk.isEntry ? [chunk.fileName] : [])));
      for (const { fileName, imports } of chunks) {
        const entry = imports.find((file) => entries.has(file));
        if (entry !== undefined) this.error(`${fileName} imports ${entry}, the entry of a worker.`);
      }
    },
  };
}
