import { SourceMap } from 'node:module';
import { basename } from 'node:path';
import { build, type Rollup } from 'vite';
import { describe, expect, it } from 'vitest';
import { skipFacades } from './skip-facades.ts';

const FILES: Readonly<Record<string, string>> = {
  'page.js': `
    export const load = () => import('loaded.js');
    export const entry = () => import('entry.js');
    export const after = (value) => value + 40;`,
  'loaded.js': `export { deep as own } from 'deep.js';`,
  'entry.js': `export { deep } from 'deep.js';`,
  'deep.js': 'export const deep = 2, other = 3;',
  'rest.js': `export { other } from 'deep.js';`,
};

/** The output of a build whose chunk `deep` has a facade for whoever asks for it by `import()`. */
async function buildFiles(): Promise<ReadonlyMap<string, Rollup.OutputChunk>> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'files',
        enforce: 'pre',
        resolveId: (id) => (basename(id) in FILES ? basename(id) : null),
        load: (id) => FILES[id] ?? null,
      },
      skipFacades(),
    ],
    build: {
      write: false,
      minify: false,
      sourcemap: true,
      lib: { entry: { page: 'page.js', entry: 'entry.js', rest: 'rest.js' }, formats: ['es'] },
      rolldownOptions: {
        preserveEntrySignatures: 'allow-extension',
        output: {
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [{ name: (id) => (id.endsWith('deep.js') ? 'deep' : null) }],
          },
          entryFileNames: '[name].js',
          chunkFileNames: 'chunks/[name].js',
        },
      },
    },
  });
  const outputs = [result].flat().flatMap((one) => ('output' in one ? one.output : []));
  const chunks = outputs.filter((output) => output.type === 'chunk');
  return new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
}

describe('skipFacades', async () => {
  const chunks = await buildFiles();
  const page = chunks.get('page.js');

  it('leaves no chunk that only hands on, but for entries', () => {
    expect([...chunks.keys()].toSorted()).toEqual([
      'chunks/deep.js',
      'entry.js',
      'page.js',
      'rest.js',
    ]);
  });

  it('loads what is behind a facade, with the names of the facade', () => {
    expect(page?.code.match(/import\("[^"]+"\)/g)).toEqual([
      'import("./chunks/deep.js")',
      'import("./chunks/deep.js")',
    ]);
    const [, own] = /\(\{ own: chunk\.(\w+) \}\)/.exec(page?.code ?? '') ?? [];
    expect(chunks.get('chunks/deep.js')?.code).toContain(`deep as ${own}`);
  });

  it('keeps the source map true', () => {
    const lines = page?.code.split('\n') ?? [];
    const line = lines.findIndex((text) => text.includes('value + 40'));
    const column = lines[line]?.indexOf('value + 40') ?? 0;
    const { mappings, names, sources, sourcesContent } = JSON.parse(JSON.stringify(page?.map));
    const map = new SourceMap({
      file: '',
      mappings,
      names,
      sources,
      sourcesContent,
      sourceRoot: '',
      version: 3,
    });
    expect(map.findEntry(line, column)).toMatchObject({ originalLine: 3 });
  });
});
