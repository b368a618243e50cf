// Writes src/program/operators.ts, a typed function for each operator, from the tables in src/ops: it is
// built, not committed. Whatever compiles or checks the sources calls this first, npm's `prepare` too, which
// follows `npm ci`. It takes half a second, and a tenth where no operator has changed.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { builtEntry } from './run-ts/built-entry.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const WRITTEN = path('../src/program/operators.ts');
const SOURCE = path('../src/program/testing/operators-source.ts');

/** Writes the file where it is missing or stale. */
export async function writeOperators() {
  try {
    const { operatorsSource } = await import(pathToFileURL(await builtEntry(SOURCE)).href);
    const text = operatorsSource();
    if (existsSync(WRITTEN) && readFileSync(WRITTEN, 'utf8') === text) return;
    // Other processes see all of the file or nothing.
    const partial = `${WRITTEN}.${process.pid}.partial`;
    writeFileSync(partial, text);
    renameSync(partial, WRITTEN);
  } catch (error) {
    // Who writes an operator wants to know what the compiler says of it.
    if (!existsSync(WRITTEN)) throw error;
    console.warn(`src/program/operators.ts stays as it was: ${error.message}`);
  }
}

// `npm ci --omit=dev` installs nothing to build with.
if (
  process.argv[1] === fileURLToPath(import.meta.url) &&
  existsSync(path('../node_modules/vite'))
) {
  await writeOperators();
}
