// Runs a TypeScript file of this repository in Node: `node scripts/run-ts.mjs FILE [ARGS]`. The file
// exports `main(args)`, which resolves to an exit status. It runs from a build below .weft-cache/run,
// which is made again when a source has changed.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtEntry } from './run-ts/built-entry.mjs';

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node scripts/run-ts.mjs FILE [ARGS]');
  process.exit(2);
}
// Errors name lines of the sources, not of the build.
process.setSourceMapsEnabled(true);
const { main } = await import(pathToFileURL(await builtEntry(resolve(file))).href);
process.exitCode = (await main(args)) ?? 0;
