import { dirname, relative } from 'node:path';
import type { Plugin } from 'vite';

export const MAIN = 'main';
/** The worker's files, by the names that page and worker have for them. */
const NAMES = [
  MAIN,
  'webgpu',
  'wasm',
  'rare',
  'threads',
  'kernels',
  'formats',
  'extras',
  'compiler',
  'text',
  'reader',
  'passes',
  'append',
];
const SOURCE = /\/client\/start\/worker-files\.ts$/;
/** The module with the texts of all. */
export const TEXTS = 'weft-worker-texts.js';

/** Keeps the build of the package from taking an address for a file of its own. */
const mark = (name: string): string => `__WEFT_FILE_${name}__`;
const TEXTS_MARK = 'weft:texts';

/** Where a file lies in the package. */
export function pathOf(name: string): string {
  return `worker/weft-worker${name === MAIN ? '' : `-${name}`}.js`;
}

/** Puts the addresses of the package's files in the place of `client/start/worker-files.ts`. */
export function packagedAddresses({ hasTexts }: { readonly hasTexts: boolean }): Plugin {
  return {
    name: 'weft:packaged-addresses',
    enforce: 'pre',
    resolveId: (id) => (id === TEXTS_MARK ? { id, external: true } : null),
    load: (id) => (SOURCE.test(id) ? addressesModule(hasTexts) : null),
    renderChunk(code, { fileName }) {
      if (!code.includes(mark(MAIN))) return null;
      const from = (path: string): string => {
        const way = relative(dirname(fileName), path).replaceAll('\\', '/');
        return JSON.stringify(way.startsWith('.') ? way : `./${way}`);
      };
      let result = code.replaceAll(JSON.stringify(TEXTS_MARK), from(TEXTS));
      for (const name of NAMES) result = result.replaceAll(mark(name), from(pathOf(name)));
      return { code: result, map: null };
    },
  };
}

/** With the exports of the module whose place it takes. Nobody starts a source where there are files. */
function addressesModule(hasTexts: boolean): string {
  const fields = NAMES.map((name) => `${name}: new URL(${mark(name)}, import.meta.url).href`);
  const texts = hasTexts
    ? `(await import(${JSON.stringify(TEXTS_MARK)})).TEXTS`
    : '{ throw new Error("a static build has none"); }';
  return `export const workerFiles = () => ({ ${fields.join(', ')} });
export const importTexts = async () => ${texts};
export const startSource = undefined;
export const startSourceCompiler = undefined;
`;
}
