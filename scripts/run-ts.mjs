// Runs a TypeScript file of this repository in Node: `node scripts/run-ts.mjs FILE [ARGS]`.
// Vite resolves it, so that `?raw` shader imports mean the same as in the page. The file exports
// `main(args)`, which resolves to an exit status.
import { resolve } from 'node:path';
import { runnerImport } from 'vite';

const [file, ...args] = process.argv.slice(2);
const { module } = await runnerImport(resolve(file), { configFile: false, logLevel: 'error' });
process.exitCode = (await module.main(args)) ?? 0;
