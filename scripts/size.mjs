// Measures what a page downloads, minified and gzipped, against the budgets; also checks that the
// code which loads and runs a saved executable holds nothing of the compiler and no operator's
// reference, and that nothing of the package holds test cases.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, loadConfigFromFile } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const KILOBYTE = 1024;

/** Measured bundles: the entry and all its static imports; code loaded on demand is not counted. */
const BUNDLES = [
  { title: 'page side', entry: 'client.js', budget: 13.7 * KILOBYTE },
  {
    title: 'worker',
    entry: 'worker-main.js',
    file: /^weft-worker\.js$/,
    // The machine, what operators are, and the choice between devices, without any of these.
    budget: 73.3 * KILOBYTE,
  },
  // Language models: without machine, compiler, tokenizers and templates.
  { title: 'text', entry: 'text.js', budget: 40 * KILOBYTE },
  // Tasks: pictures, text in them and sound, without machine and compiler.
  { title: 'tasks', entry: 'tasks.js', budget: 42.2 * KILOBYTE },
  // Faces, hands and bodies in video: of the tasks only what samples pictures.
  { title: 'live', entry: 'live.js', budget: 37 * KILOBYTE },
  // The inspector's own side; its worker, which reads programs, is a file of its own.
  { title: 'inspector', entry: 'inspector.js', budget: 24.5 * KILOBYTE },
  // Types of operators and their kernels, the IR and its inference: a page that writes programs has these.
  { title: 'program', entry: 'program.js', budget: 135 * KILOBYTE, hasCompiler: true },
];
/** Files of the worker that load when a program runs on a device. */
const DEVICES = [
  // What they have in common.
  { title: 'devices', file: /-devices\.js$/, budget: 13.2 * KILOBYTE },
  // With the kernels of all operators in WGSL.
  { title: 'webgpu', file: /-webgpu\.js$/, budget: 66.3 * KILOBYTE },
  { title: 'wasm', file: /-wasm\.js$/, budget: 40 * KILOBYTE },
];
const MAIN = /^weft-worker\.js$/;
const COMPILES = /-(compiler|formats|kernels|onnx)\.js$/;
/** What devices have in common. */
const DEVICE_PARTS = /-devices\.js$/;
/**
 * Downloads of a page that runs a model, in all, by its file and device: its own side and the
 * worker's files.
 */
const PAGES = [
  { title: '.weft webgpu', files: [MAIN, DEVICE_PARTS, /-webgpu\.js$/], budget: 165.9 * KILOBYTE },
  { title: '.weft wasm', files: [MAIN, DEVICE_PARTS, /-wasm\.js$/], budget: 139.5 * KILOBYTE },
  {
    title: '.onnx wasm',
    files: [MAIN, DEVICE_PARTS, /-wasm\.js$/, COMPILES],
    budget: 350.5 * KILOBYTE,
  },
];
/** What reads the text of a model is no part of the compiler. */
const COMPILER = /^src\/(compiler\/|frontend\/(?!decoders\/reader\/))/;
/** Files that define operators on the host; code that computes there loads them. */
const REFERENCE =
  /\.reference\.ts$|^src\/ops\/(formula|index-expression)\/(evaluate|evaluate-arrays|host-intrinsics)\.ts$/;
/** Kernels in WGSL and what writes them, which only the file for WebGPU holds. */
const SHADERS = /\.wgsl(\?raw)?$|-(lowering|wgsl)\.ts$/;
/** Files that test operators; no file of the package contains them. */
const CASES = /\.cases\.ts$/;

/** Builds the published package into `outDir`. The sources of each of its files, by name. */
async function buildPackage(outDir) {
  const { config } = await loadConfigFromFile(
    { command: 'build', mode: 'production' },
    join(root, 'scripts/library.config.ts'),
  );
  const [{ output }] = [
    await build({
      ...config,
      root,
      configFile: false,
      logLevel: 'error',
      build: { ...config.build, outDir },
    }),
  ].flat();
  const chunks = output.filter(({ type }) => type === 'chunk');
  return new Map(chunks.map(({ fileName, modules }) => [basename(fileName), sourcesOf(modules)]));
}

function sourcesOf(modules) {
  const used = Object.entries(modules).filter(([, { renderedLength }]) => renderedLength > 0);
  return used.map(([id, { renderedLength }]) => ({
    path: relative(root, id).replaceAll('\\', '/'),
    byteLength: renderedLength,
  }));
}

/** A library's build would put the worker's files into the page, as no application's does. */
const keepAddresses = {
  name: 'weft:keep-addresses',
  enforce: 'pre',
  transform: (code) =>
    code.replaceAll(
      /((?:weft-worker[\w-]*|inspector-worker)\.js", )import\.meta\.url/g,
      '$1location',
    ),
};

/** The names of package.json's `imports` that bundlers of pages find. */
const packageImports = (outDir) => ({
  '#machine': join(outDir, 'no-machine.js'),
  '#texts': join(outDir, 'weft-worker-texts.js'),
});

/**
 * The chunks that an application's build makes of an entry of the package, with Vite's defaults:
 * those of the static graph, then those that load on demand.
 */
async function bundle(outDir, entry) {
  const [output] = [
    await build({
      root,
      configFile: false,
      publicDir: false,
      logLevel: 'error',
      plugins: [keepAddresses],
      resolve: { alias: packageImports(outDir) },
      build: {
        write: false,
        target: 'es2022',
        lib: { entry: join(outDir, entry), formats: ['es'] },
        rolldownOptions: {
          // All exports count; as in an application, chunks that load later may import others.
          preserveEntrySignatures: 'allow-extension',
          // A library keeps white space and notes about purity.
          output: { minify: true, comments: { annotation: false } },
        },
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

/** The worker's files as they are served. */
function workerFiles(outDir, first) {
  const folder = join(outDir, 'worker');
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const files = names.map((name) => ({
    name,
    code: readFileSync(join(folder, name), 'utf8'),
  }));
  const [now, later] = [true, false].map((isFirst) =>
    files.filter(({ name }) => first.test(name) === isFirst),
  );
  return { now, later };
}

function gzippedByteLength(chunks) {
  return chunks.reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).byteLength, 0);
}

const kilobytes = (bytes) => `${(bytes / KILOBYTE).toFixed(1)} KB`.padStart(9);
const complaints = [];

const outDir = mkdtempSync(join(tmpdir(), 'weft-size-'));
try {
  const sources = await buildPackage(outDir);
  for (const { path } of [...sources.values()].flat().filter(({ path }) => CASES.test(path))) {
    complaints.push(`the package holds ${path}, which only tests read`);
  }
  console.log('bundle        gzipped    budget   on demand');
  let pageByteLength = 0;
  for (const { title, entry, file, budget, hasCompiler } of BUNDLES) {
    const { now, later } = await bundle(outDir, entry);
    const files = file ? workerFiles(outDir, file) : { now, later };
    const byteLength = gzippedByteLength(files.now);
    const isOver = byteLength > budget;
    console.log(
      `${title.padEnd(12)}${kilobytes(byteLength)} ${kilobytes(budget)}   ` +
        `${kilobytes(gzippedByteLength(files.later))}${isOver ? '   over budget' : ''}`,
    );
    if (isOver) complaints.push(`${title} is ${byteLength - budget} bytes over its budget`);
    const modules = now.flatMap(({ modules }) => sourcesIn(modules, sources));
    for (const { path } of modules) {
      if (hasCompiler) continue;
      if (![COMPILER, REFERENCE, SHADERS].some((pattern) => pattern.test(path))) continue;
      complaints.push(`${title} holds ${path}, which must load on demand only`);
    }
    if (process.argv.includes('--modules')) printLargest(modules);
    if (file) {
      measureDevices(files.later);
      measurePages([...files.now, ...files.later], pageByteLength);
    } else pageByteLength = byteLength;
  }
} finally {
  rmSync(outDir, { recursive: true, force: true });
}
for (const complaint of complaints) console.error(complaint);
process.exitCode = complaints.length > 0 ? 1 : 0;

function measureDevices(files) {
  for (const { title, file, budget } of DEVICES) {
    const byteLength = gzippedByteLength(files.filter(({ name }) => file.test(name)));
    if (byteLength === 0) complaints.push(`the worker has no file for ${title}`);
    compare(title, byteLength, budget);
  }
}

function measurePages(workerFiles, pageByteLength) {
  for (const { title, files, budget } of PAGES) {
    const fetched = workerFiles.filter(({ name }) => files.some((file) => file.test(name)));
    compare(title, pageByteLength + gzippedByteLength(fetched), budget);
  }
}

function compare(title, byteLength, budget) {
  console.log(`${title.padEnd(12)}${kilobytes(byteLength)} ${kilobytes(budget)}`);
  if (byteLength > budget) {
    complaints.push(`${title} is ${byteLength - budget} bytes over its budget`);
  }
}

/** Sources of the package's files in a chunk. */
function sourcesIn(modules, sources) {
  return sourcesOf(modules).flatMap(({ path }) => sources.get(basename(path)) ?? []);
}

function printLargest(modules) {
  modules.sort((a, b) => b.byteLength - a.byteLength);
  for (const { path, byteLength } of modules.slice(0, 60)) {
    console.log(`  ${String(byteLength).padStart(8)}  ${path}`);
  }
}
