import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';
import { bundleForNode, nodePackageFile } from './bundle-for-node.ts';
import { keepThreadAddress } from './keep-thread-address.ts';
import { libraryChunks } from './library-chunks.ts';
import { minifyWgsl } from './minify-wgsl.ts';
import { skipFacades } from './skip-facades.ts';
import { packagedAddresses } from './worker-files/packaged-addresses.ts';
import { workerFiles } from './worker-files/worker-files.ts';
import { writeOperators } from './write-operators.mjs';

// The published package: one file per entry and shared chunks. Dependencies are inside, so that the
// files also work straight from a server without a bundler; what only Node loads stays outside.

const source = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

await writeOperators();

/** Entries of package.json's `exports` and `bin`, and what the worker's files are made of. */
export const ENTRIES = {
  client: source('client/index.ts'),
  worker: source('worker/index.ts'),
  compiler: source('frontend/index.ts'),
  program: source('program/index.ts'),
  text: source('text/index.ts'),
  tasks: source('tasks/index.ts'),
  live: source('tasks/live/index.ts'),
  inspector: source('inspector/index.ts'),
  'inspector-worker': source('inspector/program/inspector-worker-main.ts'),
  operators: source('ops/index.ts'),
  testing: source('conformance/index.ts'),
  executable: source('bytecode/index.ts'),
  vm: source('runtime/index.ts'),
  rpc: source('rpc/index.ts'),
  'rpc-nats': source('rpc/nats/index.ts'),
  node: source('cli/node.ts'),
  'worker-main': source('worker/worker-main.ts'),
  // The meaning of `#ws` of package.json's `imports`, in Node and elsewhere.
  ws: nodePackageFile('ws'),
  'no-ws': source('rpc/channels/no-ws.ts'),
  'compile-thread': source('worker/compile-thread-main.ts'),
  'wasm-thread': source('worker/wasm-thread-main.ts'),
};

/** Without `node:` as a dependency of `sirv` names them. */
const NODE_ONLY = [/^node:/, 'fs', 'path', 'webgpu', /^@nats-io\/transport-node/];

const COMMAND = '\0weft-command';

/** The `weft` command as a file that Node runs. */
function commandEntry(): Plugin {
  return {
    name: 'weft:command-entry',
    // Vite has made a path of the entry's name by now.
    resolveId: (id) => (id.endsWith('/weft-command') ? COMMAND : null),
    load(id) {
      if (id !== COMMAND) return null;
      const main = JSON.stringify(source('cli/main.ts'));
      return `#!/usr/bin/env node\nimport { main } from ${main};\nprocess.exitCode = await main(process.argv.slice(2));\n`;
    },
  };
}

const NO_MACHINE = '\0no-machine';

/** What `#machine` of package.json's `imports` is for bundlers of pages, which never ask for it. */
function noMachine(): Plugin {
  return {
    name: 'weft:no-machine',
    resolveId: (id) => (id.endsWith('/no-machine') ? NO_MACHINE : null),
    load: (id) => (id === NO_MACHINE ? 'export {};\n' : null),
  };
}

/** The object store's hash asks for Node's modules where it finds Node, which no bundle has. */
const SAME_HASH = { 'js-sha256': '@noble/hashes/sha2.js' };

/** Of its builds the one for Node, which also loads where there is no document. */
const LIT_ANYWHERE = { 'lit-html': createRequire(import.meta.url).resolve('lit-html') };

export default defineConfig({
  publicDir: false,
  resolve: { alias: { ...SAME_HASH, ...LIT_ANYWHERE } },
  plugins: [
    minifyWgsl(),
    packagedAddresses({ hasTexts: true }),
    keepThreadAddress('compile-thread'),
    keepThreadAddress('wasm-thread'),
    keepThreadAddress('inspector-worker'),
    workerFiles(ENTRIES['worker-main']),
    commandEntry(),
    noMachine(),
    bundleForNode(),
    skipFacades(),
  ],
  build: {
    outDir: fileURLToPath(new URL('../dist', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    // They become a package of their own, and a comment that leads to no file makes bundlers warn.
    sourcemap: 'hidden',
    // Of the packages that are inside.
    license: { fileName: 'licenses.md' },
    reportCompressedSize: false,
    lib: {
      entry: { ...ENTRIES, cli: 'weft-command', 'no-machine': 'no-machine' },
      formats: ['es'],
    },
    rolldownOptions: {
      external: NODE_ONLY,
      // How long plugins took is no news to who builds.
      checks: { bundlerTimings: false },
      // Shared chunks need it; entries export what they say all the same.
      preserveEntrySignatures: 'allow-extension',
      output: {
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'shaders', test: /shaders\/(?!pictures).*\.wgsl\?raw$/, priority: 1 },
            { name: libraryChunks() },
          ],
        },
        // The types have the documentation, the maps the sources.
        comments: { jsdoc: false },
        entryFileNames: '[name].js',
        chunkFileNames: 'chunks/[name]-[hash].js',
      },
    },
  },
});
