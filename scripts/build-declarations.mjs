// Writes one declaration file per entry of the package, and one of what entries share: a class with
// private members has to be declared once, or the same class of two entries would be two types.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** The entries that have declarations, by their modules in src/; tsconfig.build.json has the same. */
export const SOURCES = {
  client: 'client/index',
  worker: 'worker/index',
  compiler: 'frontend/index',
  program: 'program/index',
  text: 'text/index',
  tasks: 'tasks/index',
  live: 'tasks/live/index',
  inspector: 'inspector/index',
  operators: 'ops/index',
  testing: 'conformance/index',
  executable: 'bytecode/index',
  vm: 'runtime/index',
  rpc: 'rpc/index',
  'rpc-nats': 'rpc/nats/index',
  node: 'cli/node',
};

// TypeScript declares these in the library `esnext.disposable`, which whoever uses the package need
// not have among those of a project. Equal declarations merge.
const DISPOSAL = `declare global {
  interface SymbolConstructor {
    /** The method that \`using\` calls at the end of a block. */
    readonly dispose: unique symbol;
    /** The method that \`await using\` calls at the end of a block. */
    readonly asyncDispose: unique symbol;
  }
}`;

/** The worker as a script, which `weft-vm/weft-worker.js` gives the address of, exports nothing. */
const WORKER_FILE = 'export {};\n';

/** Adds the symbols of disposal where a declaration names them. */
function declareDisposal() {
  return {
    name: 'weft:declare-disposal',
    renderChunk(code) {
      if (!/Symbol\.(?:asyncDispose|dispose)/.test(code)) return null;
      return { code: `${DISPOSAL}\n${code}`, map: null };
    },
  };
}

/** Writes `ENTRY.d.ts` for each entry, and `shared.d.ts`. Throws where TypeScript complains. */
export async function buildDeclarations({ root, outDir }) {
  const folder = join(root, '.weft-cache/declarations');
  rmSync(folder, { recursive: true, force: true });
  const typescript = join(root, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [typescript, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error('TypeScript wrote no declarations; see above.');
  const input = Object.entries(SOURCES).map(([entry, source]) => [
    entry,
    join(folder, `${source}.d.ts`),
  ]);
  const bundle = await rolldown({
    input: Object.fromEntries(input),
    // Types of packages are brought along like their code; consumers have none of them.
    plugins: [dts({ dtsInput: true, tsconfig: false, sourcemap: false }), declareDisposal()],
    preserveEntrySignatures: 'allow-extension',
    logLevel: 'warn',
    // How long plugins took is no news to who builds.
    checks: { bundlerTimings: false },
    experimental: { attachDebugInfo: 'none' },
  });
  await bundle.write({
    dir: outDir,
    format: 'es',
    entryFileNames: '[name].ts',
    chunkFileNames: '[name].d.ts',
    minifyInternalExports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: 'shared', minShareCount: 2 }],
    },
  });
  await bundle.close();
  writeFileSync(join(outDir, 'worker/weft-worker.d.ts'), WORKER_FILE);
}
