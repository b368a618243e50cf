// Measures what a page downloads, minified and gzipped, against the budgets; also checks that the
// code which loads and runs a saved executable holds nothing of the compiler.
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, loadConfigFromFile } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const KILOBYTE = 1024;

/** What is measured: the entry and all it imports statically; what loads on demand is not counted. */
const BUNDLES = [
  { title: 'page side', entry: 'src/client/index.ts', budget: 8 * KILOBYTE },
  { title: 'worker', entry: 'src/worker/worker-main.ts', budget: 120 * KILOBYTE },
];
const COMPILER = /^src\/(compiler|frontend)\//;

const library = await loadConfigFromFile(
  { command: 'build', mode: 'production' },
  join(root, 'scripts/library.config.ts'),
);

/** The chunks of an entry: those of the static graph, then those that load on demand. */
async function bundle(entry) {
  const [output] = [
    await build({
      root,
      configFile: false,
      publicDir: false,
      logLevel: 'error',
      plugins: library.config.plugins,
      build: {
        write: false,
        target: 'es2022',
        lib: { entry: join(root, entry), formats: ['es'] },
        // As an application's build does, which needs no notes about purity.
        rolldownOptions: { output: { minify: true, comments: { annotation: false } } },
      },
    }),
  ].flat();
  const chunks = new Map(
    output.output.filter(({ type }) => type === 'chunk').map((chunk) => [chunk.fileName, chunk]),
  );
  const isStatic = new Set();
  const pending = [...chunks.values()].filter(({ isEntry }) => isEntry);
  for (const chunk of pending) {
    if (isStatic.has(chunk)) continue;
    isStatic.add(chunk);
    pending.push(...chunk.imports.flatMap((name) => chunks.get(name) ?? []));
  }
  return {
    now: [...isStatic],
    later: [...chunks.values()].filter((chunk) => !isStatic.has(chunk)),
  };
}

function gzippedByteLength(chunks) {
  return chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).byteLength, 0);
}

const kilobytes = (bytes) => `${(bytes / KILOBYTE).toFixed(1)} KB`.padStart(9);
const complaints = [];

console.log('bundle        gzipped    budget   on demand');
for (const { title, entry, budget } of BUNDLES) {
  const { now, later } = await bundle(entry);
  const byteLength = gzippedByteLength(now);
  const isOver = byteLength > budget;
  console.log(
    `${title.padEnd(12)}${kilobytes(byteLength)} ${kilobytes(budget)}   ` +
      `${kilobytes(gzippedByteLength(later))}${isOver ? '   over budget' : ''}`,
  );
  if (isOver) complaints.push(`${title} is ${byteLength - budget} bytes over its budget`);
  for (const chunk of now) {
    for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
      const path = relative(root, id).replaceAll('\\', '/');
      if (renderedLength > 0 && COMPILER.test(path)) {
        complaints.push(`${title} holds ${path}, which must load on demand only`);
      }
    }
  }
  if (process.argv.includes('--modules')) {
    const modules = now.flatMap(({ modules }) => Object.entries(modules));
    modules.sort(([, a], [, b]) => b.renderedLength - a.renderedLength);
    for (const [id, { renderedLength }] of modules.slice(0, 60)) {
      console.log(`  ${String(renderedLength).padStart(8)}  ${relative(root, id)}`);
    }
  }
}
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length > 0 ? 1 : 0;
