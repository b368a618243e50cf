import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';
import remapping from '@jridgewell/remapping';
import { Bundle } from 'magic-string';
import { minifySync, type Plugin, type Rollup } from 'vite';
import { addExports, type ChunkFactory, chunkFactory } from './chunk-factory.ts';
import {
  APART,
  COMPILER,
  HOST,
  PASSES,
  RARE,
  READER,
  TEXT,
  TFJS,
  TFLITE,
  TOOLS,
  WASM,
  WEBGPU,
} from './on-demand.ts';
import { MAIN, pathOf, TEXTS } from './packaged-addresses.ts';

/** Chunks that have little to do with each other, of which few are ever needed. */
const EXTRAS = 'extras';
/** What devices have in common, and a device and the compiler. */
const DEVICES = 'devices';

const THREADS = [
  'device/wasm/threads/shared-threads.ts',
  'device/wasm/parts/distributor.ts',
  'device/wasm/threads/serve-thread.ts',
  'device/wasm/parts/serve-part.ts',
];

/** Modules that a chunk holds for which a file is made; that of `extras` is anything else. */
type Entry = string | readonly string[];

/** A chunk goes to the first file whose entry needs it, or two of whose entries do. */
const ON_DEMAND: readonly { readonly name: string; readonly entries: readonly Entry[] }[] = [
  { name: 'webgpu', entries: [WEBGPU] },
  { name: 'wasm', entries: [WASM] },
  { name: 'rare', entries: [RARE] },
  { name: 'threads', entries: [THREADS] },
  { name: 'append', entries: ['runtime/builtins/append-tensors.ts'] },
  { name: 'kernels', entries: [HOST] },
  { name: 'formats', entries: [COMPILER, EXTRAS] },
  { name: EXTRAS, entries: [EXTRAS] },
  { name: 'compiler', entries: [COMPILER] },
  { name: 'tflite', entries: [TFLITE] },
  { name: 'tfjs', entries: [TFJS] },
  { name: 'passes', entries: [PASSES] },
  { name: 'text', entries: [TEXT] },
  { name: 'reader', entries: [READER] },
  { name: 'tools', entries: [TOOLS] },
];

/** Chunks that go to a file by a module that they hold, since the files that need them would be too large. */
const PLACED = [
  { name: 'onnx', holds: 'frontend/onnx/import-onnx.ts' },
  { name: 'compiler', holds: 'compiler/compile-in-steps.ts' },
  { name: 'compiler', holds: 'compiler/ir/build.ts' },
];

/** Above which bundlers warn of a file: 244 KiB. */
const MOST_BYTES = 250_000;

/** Vite puts shorter files into the page as `data:` addresses, from which a worker loads nothing. */
const INLINED_BYTES = 4096;

const LOADER = readFileSync(new URL('loader.js', import.meta.url), 'utf8');

/** The one `import()` of the worker, with the notes that keep bundlers from following it. */
const IMPORT = [
  '((importFile) => {\n',
  '})((address) => import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ address));\n',
] as const;

interface Chunk {
  readonly fileName: string;
  readonly facadeModuleId: string | null;
  readonly moduleIds: readonly string[];
  readonly imports: readonly string[];
  readonly dynamicImports: readonly string[];
  readonly code: string;
  readonly map: Rollup.SourceMap | null;
}

/** A script with its source map, whose sources are relative to where it lies. */
interface WorkerFile {
  readonly code: string;
  readonly map: string;
}

/**
 * Makes the worker's files out of the chunks that `entry` loads. They are plain scripts that hold no
 * import: bundlers copy them as they are when they see `new URL(…, import.meta.url)`, whichever format
 * and options they have for workers.
 */
export function workerFiles(entry: string): Plugin {
  return {
    name: 'weft:worker-files',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
      const files = makeFiles(chunks, entry);
      for (const [name, { code, map }] of files) {
        const fileName = pathOf(name);
        if (code.length >= MOST_BYTES) {
          throw new Error(`internal: ${fileName} has ${code.length} bytes, expected ${MOST_BYTES}`);
        }
        this.emitFile({ type: 'asset', fileName, source: `${code.padEnd(INLINED_BYTES)}\n` });
        this.emitFile({ type: 'asset', fileName: `${fileName}.map`, source: map });
      }
      const source = textsModule([...files].map(([name, { code }]) => [name, code]));
      this.emitFile({ type: 'asset', fileName: TEXTS, source });
    },
  };
}

/** The texts of all files, by name, in less than half of their length: bundlers that need them warn of modules of a megabyte. */
function textsModule(texts: readonly (readonly [name: string, code: string])[]): string {
  const packed = gzipSync(JSON.stringify(Object.fromEntries(texts)), { level: 9 });
  return `const PACKED = ${JSON.stringify(packed.toString('base64'))};
export function readTexts() {
  const bytes = Uint8Array.from(atob(PACKED), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}
`;
}

/** Each file by its name. */
function makeFiles(all: readonly Chunk[], entry: string): Map<string, WorkerFile> {
  const graph = chunkGraph(all, entry);
  const { factories, idOf, main } = graph;
  const fileOf = assignFiles(graph);
  const targets = new Set([...factories.values()].flatMap(({ loads }) => loads));
  const needed = [...targets].map((target): [number, string[]] => {
    const files = new Set([...closure(target, factories)].map((name) => fileOf.get(name) ?? MAIN));
    return [idOf(target), [...files].filter((name) => name !== MAIN)];
  });
  for (const [, files] of needed) requireApart(files);
  const later = needed.map(([id, files]) => [id, files.sort().join(' ')] as const);
  const lists = [...new Set(later.map(([, files]) => files))];
  // Chunks that load on demand have the first numbers.
  const listOf: number[] = [];
  for (const [id, files] of later) listOf[id] = lists.indexOf(files);
  const constants = `const LISTS = ${JSON.stringify(lists.join())}.split(',');
const FILES = ${JSON.stringify(listOf)};
const ENTRY = ${idOf(main)};`;
  const wrap = (file: string): readonly [string, string] =>
    file === MAIN
      ? [`(() => {\nconst CHUNKS = {\n`, `\n};\n${constants}\n${LOADER}\n})();`]
      : ['Object.assign(self.weftChunks, {\n', '\n});'];
  const lengthOf = (fileName: string): number =>
    factories.get(fileName)?.code.toString().length ?? 0;
  const names = new Set([MAIN, DEVICES, ...[...PLACED, ...ON_DEMAND].map(({ name }) => name)]);
  const files = [...names].map((file): [string, WorkerFile] => {
    const held = [...fileOf].filter(([, name]) => name === file).map(([fileName]) => fileName);
    // Short ones are most alike, so that the file is smaller compressed if they lie together.
    const inside = held.sort((a, b) => lengthOf(a) - lengthOf(b));
    return [file, makeFile(file, { inside, wrap: wrap(file), graph })];
  });
  return new Map(files);
}

/** Throws where the shaders would come along with what runs or compiles programs for other devices. */
function requireApart(files: readonly string[]): void {
  const others = files.filter((name) => name !== 'webgpu' && name !== DEVICES);
  if (!files.includes('webgpu') || others.length === 0 || others.includes(EXTRAS)) return;
  throw new Error(`internal: a chunk is in the file for WebGPU that ${files.join(', ')} share`);
}

interface FileParts {
  readonly inside: readonly string[];
  readonly wrap: readonly [before: string, after: string];
  readonly graph: ChunkGraph;
}

/** Chunks in one script, minified. */
function makeFile(name: string, { inside, wrap, graph }: FileParts): WorkerFile {
  const { factories, idOf, chunks } = graph;
  const joined = new Bundle({ separator: ',\n' });
  // Functions that are called as soon as they are loaded are in parentheses, which engines take as
  // a hint: without it they read all of them twice.
  const [open, close] = name === EXTRAS ? ['', ''] : ['(', ')'];
  for (const filename of inside) {
    const content = factories.get(filename)?.code;
    if (content === undefined) continue;
    content.prepend(`${idOf(filename)}: ${open}`).append(close);
    joined.addSource({ filename, content });
  }
  joined.prepend(wrap[0]).append(wrap[1]);
  const file = `weft-worker:${name}`;
  const result = minifySync(file, joined.toString(), { module: false, sourcemap: true });
  if (result.errors.length > 0) throw new Error(`internal: ${name}: ${result.errors[0]?.message}`);
  const whole = joined.generateMap({ hires: 'boundary' });
  const map = remapping(JSON.stringify(result.map), (source, context) => {
    if (source === file) return JSON.stringify(whole);
    const chunk = chunks.get(source);
    if (chunk?.map) return JSON.stringify(chunk.map);
    // The bundler's own lines have no source but the chunk.
    if (chunk) context.content = chunk.code;
    return null;
  });
  // Of the folder of all files; this one lies a folder deeper.
  map.sources = map.sources.map((source) => source && `../${source}`);
  if (name !== MAIN) return { code: `${result.code}\n`, map: map.toString() };
  const [before, after] = IMPORT;
  map.mappings = typeof map.mappings === 'string' ? `;${map.mappings}` : map.mappings;
  return { code: `${before}${result.code}\n${after}`, map: map.toString() };
}

interface ChunkGraph {
  readonly factories: ReadonlyMap<string, ChunkFactory>;
  readonly idOf: (fileName: string) => number;
  readonly main: string;
  readonly chunks: ReadonlyMap<string, Chunk>;
}

/** All that the chunk of `entry` loads, now or later. */
function chunkGraph(all: readonly Chunk[], entry: string): ChunkGraph {
  const chunks = new Map(all.map((chunk) => [chunk.fileName, chunk]));
  const main = all.find(({ facadeModuleId }) => facadeModuleId === entry)?.fileName;
  if (main === undefined) throw new Error(`internal: no chunk of ${entry}`);
  const ids = new Map<string, number>();
  const idOf = (fileName: string): number => {
    const id = ids.get(fileName) ?? ids.size;
    ids.set(fileName, id);
    return id;
  };
  const reached = new Set([main]);
  for (const name of reached) {
    const { imports = [], dynamicImports = [] } = chunks.get(name) ?? {};
    for (const target of dynamicImports) idOf(target);
    for (const other of [...imports, ...dynamicImports]) reached.add(other);
  }
  const factories = new Map<string, ChunkFactory>();
  const pending = [main];
  for (const fileName of pending) {
    const chunk = chunks.get(fileName);
    if (chunk === undefined) throw new Error(`internal: the worker needs ${fileName}`);
    if (factories.has(fileName)) continue;
    const resolve = (specifier: string): string =>
      normalize(join(dirname(fileName), specifier)).replaceAll('\\', '/');
    const factory = chunkFactory(chunk.code, fileName, { resolve, idOf });
    factories.set(fileName, factory);
    pending.push(...factory.needs.keys(), ...factory.loads);
  }
  const made = [...factories.values()];
  const loaded = new Set(made.flatMap(({ loads }) => loads));
  for (const [fileName, factory] of factories) {
    const needed = new Set(made.flatMap(({ needs }) => needs.get(fileName) ?? []));
    // Who loads a chunk may need all of it.
    addExports(factory, (name) => loaded.has(fileName) || needed.has(name));
  }
  return { factories, idOf, main, chunks };
}

function assignFiles({ factories, main, chunks }: ChunkGraph): Map<string, string> {
  const targets = [...factories.values()].flatMap(({ loads }) => loads);
  const holds = (name: string, entry: Entry): boolean => {
    if (entry === EXTRAS) {
      return ON_DEMAND.every(({ entries }) =>
        entries.every((one) => one === entry || !holds(name, one)),
      );
    }
    // A chunk that only passes on what another one has holds no module itself.
    const { facadeModuleId, moduleIds = [] } = chunks.get(name) ?? {};
    const paths = [entry].flat();
    return [...moduleIds, facadeModuleId ?? ''].some((id) =>
      paths.some((path) => id.endsWith(`/src/${path}`)),
    );
  };
  const reachedFrom = (entry: Entry): ReadonlySet<string> => {
    const held = targets.filter((target) => holds(target, entry));
    return new Set(held.flatMap((target) => [...closure(target, factories)]));
  };
  /** Chunks that at least two of the entries need; of a single entry, all that it needs. */
  const neededBy = (entries: readonly Entry[]): string[] => {
    const all = entries.flatMap((entry) => [...reachedFrom(entry)]);
    return entries.length === 1 ? all : all.filter((name, i) => all.indexOf(name) < i);
  };
  const fileOf = new Map<string, string>();
  const assign = (names: Iterable<string>, file: string): void => {
    for (const name of names) if (!fileOf.has(name)) fileOf.set(name, file);
  };
  assign(closure(main, factories), MAIN);
  assign(APART.flatMap(neededBy), DEVICES);
  for (const { name, holds: module } of PLACED) {
    assign(
      [...factories.keys()].filter((chunk) => holds(chunk, module)),
      name,
    );
  }
  for (const { name, entries } of ON_DEMAND) assign(neededBy(entries), name);
  return fileOf;
}

/** A chunk and all that it needs at once. Throws for chunks that need each other. */
function closure(from: string, factories: ReadonlyMap<string, ChunkFactory>): Set<string> {
  const found = new Set<string>();
  const path: string[] = [];
  const visit = (name: string): void => {
    if (path.includes(name)) throw new Error(`internal: chunks in a circle: ${path.join(', ')}`);
    if (found.has(name)) return;
    found.add(name);
    path.push(name);
    for (const need of factories.get(name)?.needs.keys() ?? []) visit(need);
    path.pop();
  };
  visit(from);
  return found;
}
