import { Command } from 'commander';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { CASES } from './compare-onnx/cases/index.ts';
import { compareModel, type CompareOptions, type Verdict } from './compare-onnx/compare-model.ts';
import { Draw } from './compare-onnx/draw.ts';
import { knownDeviation } from './compare-onnx/known-deviations.ts';
import { type ModelCase, singleNodeModel } from './compare-onnx/node-case.ts';
import { MODELS } from './compare-onnx/models/index.ts';
import { openPeerRuntime } from './compare-onnx/peer-runtime.ts';
import { randomGraph } from './compare-onnx/random-graph.ts';
import { keepDevice } from '../conformance/keep-device.ts';
import { runCommand } from '../run-command.ts';

interface Options {
  readonly device: string;
  readonly filter?: string;
  readonly count: string;
  readonly seed: string;
  readonly graphs: string;
  readonly refusals?: boolean;
  readonly half?: boolean;
  readonly dynamic?: boolean;
}

const HELP = `
Case i of an operator has the seed SEED + i, so that \`--seed N --count 1\` runs the one that was
printed. Integers and booleans have to be equal, floats within rtol 1e-3 and atol 1e-5.

Examples:
  npm run compare:onnx -- --filter '^Reduce' --count 50
  npm run compare:onnx -- --device dawn --graphs 20`;

/** `npm run compare:onnx`: resolves to the exit status. */
export async function main(args: readonly string[]): Promise<number> {
  const command = new Command('compare:onnx')
    .description(
      'Compares operators of ONNX, drawn at random, with the CPU runtime of onnxruntime-web.',
    )
    .option('--device <name>', 'host or dawn (WebGPU in Node)', 'host')
    .option('--filter <regexp>', 'only operators and models whose name matches')
    .option('--count <number>', 'cases for each operator and model', '20')
    .option('--seed <number>', 'seed of the first case', '1')
    .option('--graphs <number>', 'graphs of several nodes', '0')
    .option('--half', 'operators on float16 in place of float32')
    .option('--dynamic', 'operators on tensors whose dimensions have names')
    .option('--refusals', 'list what the other runtime refuses')
    .addHelpText('after', HELP);
  return runCommand(command, args, () => compareAll(command.opts<Options>()));
}

async function compareAll({ device, filter = '', ...options }: Options): Promise<number> {
  if (device !== 'host' && device !== 'dawn') {
    throw new Error(`--device: got ${device}, expected host or dawn.`);
  }
  const matching = (table: object) =>
    Object.keys(table).filter((name) => new RegExp(filter).test(name));
  const names = matching(CASES);
  const models = matching(MODELS);
  if (names.length + models.length === 0)
    throw new Error(`No operator matches --filter ${filter}.`);
  const target: CompareOptions =
    device === 'host' ? { device } : { device: 'webgpu', gpu: await nodeGpu() };
  const keeper = await keepDevice({ ...target, worker: false });
  const peer = openPeerRuntime();
  const variant = {
    isHalf: options.half ?? false,
    isDynamic: options.dynamic ?? false,
  };
  const tally = new Tally(options.refusals ?? false);
  try {
    const seed = Number(options.seed);
    for (const name of names) {
      for (let i = 0; i < Number(options.count); i++) {
        const draw = new Draw(seed + i, name);
        const model = singleNodeModel(generate(name, draw), draw, variant);
        tally.add(name, seed + i, model, await compareModel(model, peer, target));
      }
    }
    for (const name of models) {
      for (let i = 0; i < Number(options.count); i++) {
        const model = MODELS[name]?.(new Draw(seed + i, name));
        if (model === undefined) throw new Error(`internal: no model ${name}`);
        tally.add(name, seed + i, model, await compareModel(model, peer, target));
      }
    }
    for (let i = 0; i < Number(options.graphs); i++) {
      const model = await randomGraph(names, new Draw(seed + i, 'graph'), peer);
      tally.add('graph', seed + i, model, await compareModel(model, peer, target));
    }
  } finally {
    await keeper.dispose();
  }
  console.log(tally.summary());
  return tally.failures === 0 ? 0 : 1;
}

function generate(name: string, draw: Draw) {
  const generator = CASES[name];
  if (generator === undefined) throw new Error(`internal: no cases of ${name}`);
  return generator(draw);
}

/** Counts verdicts and prints those that matter. */
class Tally {
  failures = 0;
  readonly #listsRefusals: boolean;
  #same = 0;
  #known = 0;
  readonly #refusedByPeer = new Map<string, number>();

  constructor(listsRefusals: boolean) {
    this.#listsRefusals = listsRefusals;
  }

  add(name: string, seed: number, model: ModelCase, verdict: Verdict): void {
    if (verdict.kind === 'same') {
      this.#same++;
      return;
    }
    if (verdict.kind === 'peer refuses') {
      this.#refusedByPeer.set(name, (this.#refusedByPeer.get(name) ?? 0) + 1);
      if (this.#listsRefusals) console.log(line(name, seed, model, verdict));
      return;
    }
    if (model.nodes.some((node) => knownDeviation(node, verdict) !== undefined)) {
      this.#known++;
      return;
    }
    this.failures++;
    console.log(line(name, seed, model, verdict));
  }

  summary(): string {
    const refused = [...this.#refusedByPeer.values()].reduce((sum, count) => sum + count, 0);
    const names = [...this.#refusedByPeer].map(([name, count]) => `${name} ${count}`).join(', ');
    return (
      `${this.#same} the same, ${this.failures} not, ${this.#known} known deviations of the other ` +
      `runtime, ${refused} that it refuses${refused === 0 ? '' : ` (${names})`}`
    );
  }
}

function line(name: string, seed: number, { text }: ModelCase, verdict: Verdict): string {
  const reason = verdict.kind === 'same' ? '' : verdict.reason;
  const taken = verdict.kind === 'peer refuses' && verdict.isTakenByWeft ? ' (weft takes it)' : '';
  return `${name} --seed ${seed}: ${verdict.kind}${taken}\n  ${text.replaceAll('\n', '\n  ')}\n  ${reason.slice(0, 400)}`;
}
