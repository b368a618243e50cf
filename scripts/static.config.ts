import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { ENTRIES } from './library.config.ts';
import { minifyWgsl } from './minify-wgsl.ts';
import { packagedAddresses } from './worker-files/packaged-addresses.ts';

// `weft-vm/static`: the client with the machine and the compiler in one file, for service workers and
// extensions, which know no `import()`. Built beside what library.config.ts makes.

export default defineConfig({
  publicDir: false,
  plugins: [minifyWgsl(), packagedAddresses({ hasTexts: false })],
  build: {
    outDir: fileURLToPath(new URL('../dist', import.meta.url)),
    emptyOutDir: false,
    target: 'es2022',
    minify: false,
    reportCompressedSize: false,
    lib: { entry: { static: ENTRIES.client }, formats: ['es'] },
    rolldownOptions: {
      checks: { bundlerTimings: false },
      // Of its documentation the types have a copy.
      output: { codeSplitting: false, entryFileNames: '[name].js', comments: { jsdoc: false } },
    },
  },
});
