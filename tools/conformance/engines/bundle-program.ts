import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Makes one file of the program that Deno runs; resolves to its path. */
export async function bundleProgram(name: 'deno-program'): Promise<string> {
  const outDir = join(root, '.weft-cache/engines');
  const file = `${name}.mjs`;
  await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    // The cases of operators stay in: this is no build of what ships.
    build: {
      ssr: join(root, `tools/conformance/engines/${name}.ts`),
      outDir,
      emptyOutDir: false,
      target: 'es2022',
      rolldownOptions: {
        checks: { bundlerTimings: false },
        output: { codeSplitting: false, entryFileNames: file },
      },
    },
    // For engines without Node's modules: the runtime of the bundler must not import one either.
    ssr: { noExternal: true, target: 'webworker' },
  });
  return join(outDir, file);
}
