// Runs a TypeScript file of this repository in Node: `node scripts/run-ts.mjs FILE [ARGS]`. The file
// exports `main(args)`, which resolves to an exit status. It runs from a build below .weft-cache/run,
// which is made again when a source has changed.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installDependencies } from './install-dependencies.mjs';

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node scripts/run-ts.mjs FILE [ARGS]');
  process.exit(2);
}
const root = fileURLToPath(new URL('..', import.meta.url));
if (!existsSync(`${root}node_modules`) && !installDependencies(root)) process.exit(1);
// Errors name lines of the sources, not of the build.
process.setSourceMapsEnabled(true);
const { builtEntry } = await import('./run-ts/built-entry.mjs');
const { writeOperators } = await import('./write-operators.mjs');
await writeOperators();
const { main } = await import(pathToFileURL(await builtEntry(resolve(file))).href);
process.exitCode = (await main(args)) ?? 0;
