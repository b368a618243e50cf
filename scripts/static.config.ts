import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { importAtOnce } from './import-at-once.ts';
import { ENTRIES } from './library.config.ts';
import { minifyWgsl } from './minify-wgsl.ts';
import { packagedAddresses } from './worker-files/packaged-addresses.ts';

// The entries for service workers and extensions, which know no `import()`: session, text and tasks with all that they
// load elsewhere on demand. What two of them have in common, which is most, is one chunk. Built beside what
// library.config.ts makes.

export default defineConfig({
  publicDir: false,
  plugins: [importAtOnce(), minifyWgsl(), packagedAddresses({ hasTexts: false })],
  build: {
    outDir: fileURLToPath(new URL('../dist', import.meta.url)),
    emptyOutDir: false,
    target: 'es2022',
    minify: false,
    reportCompressedSize: false,
    lib: {
      entry: { static: ENTRIES.client, 'static-text': ENTRIES.text, 'static-tasks': ENTRIES.tasks },
      formats: ['es'],
    },
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] },
        entryFileNames: '[name].js',
        chunkFileNames: 'static-[name].js',
        // Of its documentation the types have a copy, of all code the other files: names of variables
        // would make the package 0.2 MB larger.
        comments: { jsdoc: false },
        minify: { compress: false, mangle: true, codegen: { removeWhitespace: true } },
      },
    },
  },
});
