import { copyFileSync, existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const dawn = join(
  here,
  '../../node_modules/webgpu/dist',
  `${process.platform}-${process.platform === 'darwin' ? 'universal' : process.arch}`,
  'dawn.node',
);

/**
 * Writes `bench-kernels.mjs` and `dawn.node` into a folder. With Node 20 and a Vulkan driver they
 * need nothing else: `node bench-kernels.mjs [--class CLASS] [FILTER]`.
 */
export async function bundleKernels(folder: string): Promise<void> {
  if (!existsSync(dawn)) throw new Error(`${dawn} is not there: run npm install`);
  const outDir = resolve(folder);
  await build({
    root: here,
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [virtualModules()],
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      target: 'node20',
      rolldownOptions: {
        input: { 'bench-kernels': ENTRY },
        output: { entryFileNames: '[name].mjs', codeSplitting: false },
      },
    },
  });
  copyFileSync(dawn, join(outDir, 'dawn.node'));
  console.log(`${outDir}: node bench-kernels.mjs [--class CLASS] [FILTER]`);
}

const ENTRY = '\0bench-kernels';
const DAWN = '\0dawn';

/** The program that runs, and in place of the `webgpu` package the library beside it. */
function virtualModules(): Plugin {
  const timeKernels = JSON.stringify(join(here, 'time-kernels.ts'));
  return {
    name: 'weft:bench-kernels',
    enforce: 'pre',
    resolveId: (id) => (id === 'webgpu' ? DAWN : id === ENTRY ? ENTRY : null),
    load(id) {
      if (id === ENTRY) {
        return `import { timeKernels } from ${timeKernels};\nprocess.exitCode = await timeKernels(process.argv.slice(2));\n`;
      }
      if (id !== DAWN) return null;
      return `import { createRequire } from 'node:module';\nexport const { create, globals } = createRequire(import.meta.url)('./dawn.node');\n`;
    },
  };
}
