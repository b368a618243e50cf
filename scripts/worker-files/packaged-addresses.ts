import { dirname, relative } from 'node:path';
import type { Plugin } from 'vite';

export const MAIN = 'main';
/** The worker's files, by the names that page and worker have for them. */
const NAMES = [
  MAIN,
  'devices',
  'webgpu',
  'wasm',
  'rare',
  'threads',
  'kernels',
  'formats',
  'extras',
  'compiler',
  'tflite',
  'tfjs',
  'onnx',
  'tools',
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
/** True where Vite builds an application, once this build of Vite's is over. */
const IN_VITE = '__WEFT_IN_VITE__';
/** The name in package.json's `imports` that is that module, but for webpack nothing. */
const PACKED_TEXTS = '#texts';
/** The name in package.json's `imports` that is the machine in Node and nothing elsewhere. */
const NODE_MACHINE = '#machine';

/** Where a file lies in the package. */
export function pathOf(name: string): string {
  return `worker/weft-worker${name === MAIN ? '' : `-${name}`}.js`;
}

/** Puts the addresses of the package's files in the place of `client/start/worker-files.ts`. */
export function packagedAddresses({ hasTexts }: { readonly hasTexts: boolean }): Plugin {
  return {
    name: 'weft:packaged-addresses',
    enforce: 'pre',
    resolveId: (id) => (id === PACKED_TEXTS || id === NODE_MACHINE ? { id, external: true } : null),
    load: (id) => (SOURCE.test(id) ? addressesModule(hasTexts) : null),
    renderChunk(code, { fileName }) {
      if (!code.includes(mark(MAIN))) return null;
      const from = (path: string): string => {
        const way = relative(dirname(fileName), path).replaceAll('\\', '/');
        return JSON.stringify(way.startsWith('.') ? way : `./${way}`);
      };
      let result = code.replaceAll(IN_VITE, 'import.meta.env?.PROD === true');
      for (const name of NAMES) result = result.replaceAll(mark(name), from(pathOf(name)));
      return { code: result, map: null };
    },
  };
}

/**
 * With the exports of the module whose place it takes. Nobody starts a source where there are files. The texts are for bundlers that
 * leave the files behind, as esbuild and Rollup do; Vite's build and webpack copy them, and are kept from the texts.
 */
function addressesModule(hasTexts: boolean): string {
  const fields = NAMES.map((name) => `${name}: new URL(${mark(name)}, import.meta.url).href`);
  const own = hasTexts ? PAGE_MODULE : STATIC_MODULE;
  return `export const workerFiles = () => ({ ${fields.join(', ')} });
${own}
export const startSource = undefined;
export const startSourceCompiler = undefined;
`;
}

/** For service workers all code is there at once. */
const STATIC_MODULE = `export const importTexts = () => { throw new Error("a static build has none"); };
export const importMachine = () => import('../../worker/index.ts');
`;

const PAGE_MODULE = `import { nodeBuiltin } from '../../core/node-builtin.ts';
export const importTexts = () => ${IN_VITE} ? Promise.reject() :
  import(/* turbopackIgnore: true */ ${JSON.stringify(PACKED_TEXTS)}).then(({ readTexts }) => readTexts());
export async function importMachine({ operators }) {
  if (nodeBuiltin !== undefined) return import(${JSON.stringify(NODE_MACHINE)});
  return operators?.importMachine?.() ??
    (await import('./page-machine.ts')).pageMachine(workerFiles(), importTexts);
}
`;
