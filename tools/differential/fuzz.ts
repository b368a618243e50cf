import { Command } from 'commander';
import { createHostDevice } from '../../src/device/host/host-device.ts';
import { createWasmDevice } from '../../src/device/wasm/wasm-device.ts';
import { createWebGpuDevice } from '../../src/device/webgpu/webgpu-device.ts';
import type { AdapterClass } from '../../src/core/contracts/launch-plan.ts';
import type { Device } from '../../src/device/device.ts';
import { printModule } from '../../src/compiler/ir/text/print.ts';
import { CORE_OPERATORS } from '../../src/ops/tables/core-operators.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { type Graph, graphModule } from './fuzz/graph.ts';
import { randomGraph } from './fuzz/random-graph.ts';
import { differencesOf, VARIANTS, variantsFor } from './fuzz/run-graph.ts';
import { randomProgram } from './fuzz/random-program.ts';
import { runProgram, shrinkProgram } from './fuzz/run-program.ts';
import { runSeeds, type SeedResult } from './fuzz/run-seeds.ts';
import { shrinkGraph } from './fuzz/shrink-graph.ts';
import { openThreads } from '../conformance/engines/wasm-threads.ts';
import { parseThreads, type ThreadOptions } from '../parse-threads.ts';
import { runCommand } from '../run-command.ts';

const ADAPTER_CLASSES = ['software', 'integrated', 'discrete'] as const;

interface Options {
  readonly count: string;
  readonly seed: string;
  readonly filter?: string;
  readonly device: string;
  readonly adapter: string;
  readonly threads: string;
  readonly apart?: boolean;
  readonly stop: string;
  readonly turns?: boolean;
  readonly print?: boolean;
  readonly programs?: string;
}

interface OpenOptions {
  readonly adapterClass: AdapterClass;
  readonly threads: ThreadOptions;
}

/** The devices that are compared, in Node. */
const DEVICES: Readonly<Record<string, (options: OpenOptions) => Promise<Device>>> = {
  webgpu: async ({ adapterClass }) =>
    createWebGpuDevice({ gpu: await nodeGpu(), adapterClass, operators: CORE_OPERATORS }),
  wasm: async ({ threads }) => (threads.count > 1 ? openThreads(threads) : createWasmDevice()),
};

const HELP = `
Graph i has the seed SEED + i, so that \`--seed N --count 1\` runs the one that was printed.

Examples:
  npm run fuzz -- --count 5000 --seed 1
  npm run fuzz -- --count 1000 --device wasm
  npm run fuzz -- --programs 200 --seed 1
  npm run fuzz -- --count 200 --filter 'conv|pool' --adapter discrete`;

/** `npm run fuzz`: resolves to the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const command = new Command('fuzz')
    .description(
      'Compiles random graphs with and without each optimisation, and compares what they compute on the host and on a device (in Node) with the references of their operators.',
    )
    .option('--count <number>', 'graphs to run', '200')
    .option('--seed <number>', 'seed of the first graph', '1')
    .option('--filter <regexp>', 'only operators whose name matches')
    .option('--device <name>', `beside the host: ${Object.keys(DEVICES).join(' or ')}`, 'webgpu')
    .option('--adapter <class>', `kernels for ${ADAPTER_CLASSES.join(', ')} adapters`, 'software')
    .option('--threads <number>', 'of wasm; they share all work, however little it is', '1')
    .option('--apart', 'with threads that have memories of their own')
    .option('--stop <number>', 'graphs with differences after which to stop', '5')
    .option('--turns', 'of the single optimisations leave out one for each graph, by turns')
    .option('--programs <number>', 'random programs to run instead of graphs')
    .option('--print', 'print the graphs, run nothing')
    .addHelpText('after', HELP);
  return runCommand(command, args, () => fuzz(command.opts<Options>()));
}

async function fuzz({
  count,
  seed,
  filter,
  device,
  adapter,
  threads,
  apart = false,
  stop,
  turns,
  print,
  programs,
}: Options): Promise<number> {
  const adapterClass = ADAPTER_CLASSES.find((known) => known === adapter);
  if (adapterClass === undefined) {
    throw new Error(`--adapter: got ${adapter}, expected ${ADAPTER_CLASSES.join(', ')}.`);
  }
  const open = Object.hasOwn(DEVICES, device) ? DEVICES[device] : undefined;
  if (open === undefined) {
    throw new Error(`--device: got ${device}, expected ${Object.keys(DEVICES).join(', ')}.`);
  }
  const pattern = filter === undefined ? undefined : new RegExp(filter);
  const graphOf = (i: number) => randomGraph({ seed: Number(seed) + i, filter: pattern });
  if (print === true) {
    for (let i = 0; i < Number(count); i++) console.log(printGraph(graphOf(i)));
    return 0;
  }
  const devices: readonly Device[] = [
    createHostDevice(),
    await open({ adapterClass, threads: parseThreads({ threads, apart }, device) }),
  ];
  if (programs !== undefined) {
    return fuzzPrograms(
      { first: Number(seed), count: Number(programs), stop: Number(stop) },
      devices,
    );
  }
  let failed = 0;
  let done = 0;
  const startedAt = Date.now();
  const variants = (seed: number) => (turns === true ? variantsFor(seed) : VARIANTS);
  const seeds = { first: Number(seed), count: Number(count), filter: pattern };
  for await (const found of runSeeds({ ...seeds, variants, devices })) {
    if (found.differences.length > 0) {
      failed++;
      console.log(await report(found, devices));
    }
    if (failed === Number(stop)) break;
    if (++done % 100 !== 0) continue;
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
    console.log(`${done} graphs, ${failed} with differences, ${seconds} s`);
  }
  for (const device of devices) device.destroy();
  console.log(failed === 0 ? `${count} graphs, no difference` : `${failed} graphs differ`);
  return failed === 0 ? 0 : 1;
}

/** Random programs on all devices but the first, which is the host. */
async function fuzzPrograms(
  { first, count, stop }: { readonly first: number; readonly count: number; readonly stop: number },
  [, ...devices]: readonly Device[],
): Promise<number> {
  const counts = { same: 0, refused: 0, different: 0 };
  for (let seed = first; seed < first + count && counts.different < stop; seed++) {
    const program = randomProgram(seed);
    const outcome = await runProgram(program, devices);
    if (typeof outcome === 'string') {
      counts[outcome]++;
      continue;
    }
    counts.different++;
    const begin = kindOf(outcome.difference);
    const smallest = await shrinkProgram(program, async (candidate) => {
      const found = await runProgram(candidate, devices);
      return typeof found === 'object' && kindOf(found.difference) === begin;
    });
    const args = `arguments: [${smallest.vector.join(', ')}], ${smallest.int}`;
    console.log([`seed ${seed}: ${outcome.difference}`, smallest.text, args, ''].join('\n'));
  }
  for (const device of devices) device.destroy();
  const { same, refused, different } = counts;
  console.log(`${same} programs without a difference, ${refused} refused, ${different} differ`);
  return different === 0 ? 0 : 1;
}

/** The beginning of a difference, without the lines and columns of the program, which shrinking moves. */
function kindOf(difference: string): string {
  return difference.replaceAll(/\d+(?=:)|(?<=:)\d+/g, '').slice(0, 60);
}

async function report(
  { seed, graph, differences }: SeedResult,
  devices: readonly Device[],
): Promise<string> {
  const lines = differences.map(
    ({ variant, device, text }) => `${variant.title}, ${device}: ${text}`,
  );
  const [first] = differences;
  if (first === undefined) return '';
  const variants = [first.variant];
  const where = devices.filter(({ kind }) => first.device === 'compiler' || kind === first.device);
  const look = (candidate: Graph) => differencesOf(candidate, { devices: where, variants });
  const smallest = await shrinkGraph(graph, async (candidate) => {
    const found = await look(candidate);
    return found.some(({ device, text }) => device === first.device && isAlike(text, first.text));
  });
  const [shown] = await look(smallest);
  return [`seed ${seed}`, ...lines, `shrunk: ${shown?.text}`, printGraph(smallest), ''].join('\n');
}

/** Differences of elements are alike; errors are if they begin with the same words. */
function isAlike(a: string, b: string): boolean {
  return (
    a.slice(0, 7) === b.slice(0, 7) && (a.startsWith('result') || a.slice(0, 40) === b.slice(0, 40))
  );
}

/** The program with the elements of its arguments. */
function printGraph(graph: Graph): string {
  const { module, args } = graphModule(graph);
  const values = args.map(({ dtype, shape, data }, i) => {
    const shown = Array.from(data as ArrayLike<number | bigint>).slice(0, 24);
    return `argument ${i}: ${dtype} (${shape.join(', ')}) ${shown.join(' ')}`;
  });
  return [printModule(module), ...values].join('\n');
}
