// Finds the build of an entry, or makes it. Only what is quick to load is imported here: a build that
// is up to date is found in a few milliseconds.
import { createHash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, '.weft-cache/run');
/** They decide about every build. */
const ALWAYS = ['package-lock.json', 'scripts/run-ts/build-entry.mjs'];
const DAY_MS = 24 * 60 * 60 * 1000;

const statOf = (file) => statSync(file, { throwIfNoEntry: false });

/** Changes with every change of a source; undefined when it is gone. */
function stampOf(source) {
  const found = statOf(join(root, source));
  return found === undefined ? undefined : `${found.mtimeMs} ${found.size}`;
}

/** The manifest of a build: its entry, its chunks, first the one to import, and its sources. */
function readManifest(name) {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8'));
  } catch {
    return undefined;
  }
}

function isUpToDate({ chunks, stamps }) {
  return (
    chunks.every((name) => existsSync(join(folder, name))) &&
    Object.entries(stamps).every(([source, stamp]) => stampOf(source) === stamp)
  );
}

/** Other processes see all of the file or nothing. */
function writeWhole(name, text) {
  const partial = join(folder, `${randomUUID()}.partial`);
  writeFileSync(partial, text);
  renameSync(partial, join(folder, name));
}

/** Removes chunks of builds that are replaced, but those of today, which a process may still import. */
function dropOldChunks() {
  const names = readdirSync(folder);
  const used = new Set();
  for (const name of names.filter((name) => name.endsWith('.json'))) {
    const manifest = readManifest(name);
    if (manifest === undefined || !existsSync(join(root, manifest.entry))) continue;
    for (const file of [name, ...manifest.chunks]) used.add(file);
  }
  for (const name of names.filter((name) => !used.has(name))) {
    const found = statOf(join(folder, name));
    if (found !== undefined && Date.now() - found.mtimeMs > DAY_MS) {
      rmSync(join(folder, name), { force: true });
    }
  }
}

/**
 * Path of a module that holds the TypeScript file `entry` and all that it imports from this
 * repository. `alias` maps names of imports to files.
 */
export async function builtEntry(entry, alias = {}) {
  const name = relative(root, entry);
  const hash = createHash('sha256')
    .update(JSON.stringify([name, alias]))
    .digest('hex');
  const manifestName = `${hash.slice(0, 16)}.json`;
  const known = readManifest(manifestName);
  if (known !== undefined && isUpToDate(known)) return join(folder, known.chunks[0]);

  const startedAt = Date.now();
  const { buildEntry } = await import('./build-entry.mjs');
  const { chunks, sources } = await buildEntry(entry, { root, folder, alias });
  mkdirSync(folder, { recursive: true });
  // Chunks are named by their content, so one that is there is the same one.
  for (const { name, text } of chunks) if (!existsSync(join(folder, name))) writeWhole(name, text);
  const stamps = {};
  for (const source of [...ALWAYS, ...sources]) {
    // A source that changed meanwhile may be in the build as it was before.
    const isNewer = (statOf(join(root, source))?.mtimeMs ?? Infinity) >= startedAt;
    stamps[source] = isNewer ? 'changed during the build' : stampOf(source);
  }
  const manifest = { entry: name, chunks: chunks.map(({ name }) => name), stamps };
  writeWhole(manifestName, JSON.stringify(manifest));
  dropOldChunks();
  return join(folder, manifest.chunks[0]);
}
