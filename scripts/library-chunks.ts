import { fileURLToPath } from 'node:url';
import { APART, COMPILER, HOST, PASSES, WASM } from './worker-files/on-demand.ts';

const source = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

const PAGE = source('client/index.ts');
const PROGRAM = source('program/index.ts');
const TEXT = source('text/index.ts');
const INSPECTOR = source('inspector/index.ts');
const WORKER = source('worker/worker-main.ts');
/** The machine itself, for pages without workers. */
const MACHINE = source('worker/index.ts');

/** Who has modules in common with the page side. */
const OTHERS = ['worker/index.ts', 'runtime/index.ts', 'frontend/index.ts', 'rpc/index.ts'];

/** Modules that workers import for functions that only the compiler and the host's kernels call. */
const ON_DEMAND = /\/core\/tensor\/(?:float16-arrays|small-floats)\.ts$/;

interface Graph {
  getModuleInfo(id: string): {
    readonly isEntry: boolean;
    readonly importedIds: readonly string[];
    readonly dynamicallyImportedIds: readonly string[];
  } | null;
}

/**
 * Names the chunks of what pages without workers run and workers are made of. In one piece each is
 * smaller than in shared pieces, and takes fewer requests:
 *
 * - `page`: what the page side imports statically that others import too, and `session`: the rest of it;
 * - `machine`: what a worker's entry imports statically; of that
 * - `later`: what pages import on demand, which would fetch the machine else, and `files`: what pages with language models
 *   import of it;
 * - `shapes` and `devices`: what two devices have in common, or a device and the compiler, with and
 *   without what programs in TypeScript need;
 * - `wasm`: the rest of the device in WebAssembly;
 * - `types` and `inference`: what the compiler has in common with programs in TypeScript, and with
 * - `passes`: passes that few programs need.
 */
export function libraryChunks(): (id: string, graph: Graph) => string | null {
  let chunks: ReadonlyMap<string, string> | undefined;
  return (id, graph) => {
    chunks ??= chunksOf(graph);
    // The page's entry is imported by others too: in a chunk of its own it would be empty.
    const isAlone = id !== PAGE && graph.getModuleInfo(id)?.isEntry === true;
    return isAlone ? null : (chunks.get(id) ?? null);
  };
}

function chunksOf(graph: Graph): Map<string, string> {
  const onPages = importsOf([PAGE], graph);
  const later = importsOf(dynamicImportsOf(onPages, graph), graph);
  const machine = importsOf([WORKER], graph);
  const programs = importsOf([PROGRAM], graph);
  const text = importsOf([TEXT], graph);
  const shared = new Set(APART.flatMap((entries) => neededByTwo(entries, graph)));
  const chunkOf = (id: string): string => {
    if (machine.has(id)) return text.has(id) ? 'files' : later.has(id) ? 'later' : 'machine';
    if (!shared.has(id)) return 'wasm';
    return programs.has(id) ? 'shapes' : 'devices';
  };
  const all = [...machine, ...shared, ...importsOf([source(WASM)], graph)];
  const ids = all.filter((id) => !onPages.has(id) && !ON_DEMAND.test(id));
  const passes = importsOf(PASSES.map(source), graph);
  const alone = importsOf([PROGRAM, WORKER, ...[COMPILER].flat().map(source)], graph);
  const rare = [...passes].filter((id) => !alone.has(id));
  const apart = importsOf([PAGE, INSPECTOR, source(HOST), ...later], graph);
  const compiler = [...importsOf([COMPILER].flat().map(source), graph)].filter(
    (id) => (programs.has(id) || passes.has(id)) && !apart.has(id) && !ON_DEMAND.test(id),
  );
  const others = importsOf(OTHERS.map(source), graph);
  const page = [...onPages].map((id) => [id, others.has(id) ? 'page' : 'session'] as const);
  return new Map([
    ...page,
    ...compiler.map((id) => [id, programs.has(id) ? 'types' : 'inference'] as const),
    ...rare.map((id) => [id, 'passes'] as const),
    ...ids.map((id) => [id, chunkOf(id)] as const),
  ]);
}

function neededByTwo(entries: (typeof APART)[number], graph: Graph): string[] {
  const all = entries.flatMap((paths) => [...importsOf([paths].flat().map(source), graph)]);
  return all.filter((id, i) => all.indexOf(id) < i);
}

/** Modules that pages load on demand, but for the machine and its device. */
function dynamicImportsOf(ids: ReadonlySet<string>, graph: Graph): string[] {
  const later = [...ids].flatMap((id) => graph.getModuleInfo(id)?.dynamicallyImportedIds ?? []);
  return later.filter((id) => id !== MACHINE && id !== source(WASM));
}

function importsOf(entries: readonly string[], graph: Graph): Set<string> {
  const found = new Set(entries);
  for (const id of found) {
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) found.add(imported);
  }
  return found;
}
