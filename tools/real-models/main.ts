import { Command } from 'commander';
import { markdown } from '../../bench/table.ts';
import { Session, Tensor } from '../../src/client/index.ts';
import type { Placement } from '../../src/worker/protocol/loaded-session.ts';
import { nodeGpu } from '../../src/testing/node-gpu.ts';
import { openPeerModel, type PeerValue } from '../onnxruntime/open-onnxruntime.ts';
import { runCommand } from '../run-command.ts';
import { relativeError } from './compare-outputs.ts';
import type { ModelInputs } from './model-inputs.ts';
import { MODELS, type RealModel } from './models.ts';
import { readModel, unpackPackage } from './packages.ts';
import { toleranceOf } from './tolerance.ts';

const DEVICES = ['host', 'wasm', 'webgpu'] as const;
type Kind = (typeof DEVICES)[number];

/** For one submit: on a software adapter that shared its cores a run of IS-Net took 274 s. */
const DEVICE_TIMEOUT_MS = 300_000;

/** A model on a device. */
interface Outcome {
  readonly device: Kind;
  /** The largest error of its outputs, relative to their ranges. */
  readonly error: number;
  readonly placements: readonly Placement[];
  readonly complaint?: string;
}

interface Options {
  readonly device?: string;
  readonly only?: string;
}

const HELP = `
Packages come from the registry, and are kept in .weft-cache; of some the licence forbids to ship or to sell their models, so
they are used nowhere else. An output may differ by 1e-4 of its range, or, where a model rounds activations to 8 bits, by
what moves when its inputs move by 1e-5 in onnxruntime-node itself; integers have to be equal.

Examples:
  npm run real-models
  npm run real-models -- --device wasm --only 'OCR|faces'`;

/** `npm run real-models`: resolves to 0 only if every model gives on every device what onnxruntime-node gives. */
export async function main(args: readonly string[]): Promise<number> {
  const command = new Command('real-models')
    .description('Runs models that npm packages ship, beside onnxruntime-node.')
    .option('--device <name>', `only this one of ${DEVICES.join(', ')}`)
    .option('--only <regexp>', 'only models whose name matches')
    .addHelpText('after', HELP);
  return runCommand(command, args, () => compareAll(command.opts<Options>()));
}

async function compareAll({ device, only }: Options): Promise<number> {
  const devices = DEVICES.filter((kind) => device === undefined || kind === device);
  if (devices.length === 0) {
    throw new Error(`--device: got ${device}, expected one of ${DEVICES.join(', ')}.`);
  }
  const pattern = new RegExp(only ?? '', 'i');
  const models = MODELS.filter(({ title }) => pattern.test(title));
  if (models.length === 0) throw new Error(`No model matches --only ${only}.`);
  const rows: string[][] = [];
  const elsewhere: string[] = [];
  let failures = 0;
  for (const model of models) {
    const bytes = readModel(unpackPackage(model.pack), model.file);
    const inputs = model.inputs();
    const peer = await openPeerModel(bytes);
    const expected = await peer.run(inputs);
    const tolerance = await toleranceOf(model, peer, inputs);
    await peer.release();
    const outcomes: Outcome[] = [];
    for (const kind of devices.filter((name) => model.tooSlow?.includes(name) !== true)) {
      const outcome = await outcomeOf(kind, bytes, { inputs, expected });
      outcomes.push(outcome);
      const isRight = outcome.error <= tolerance;
      if (!isRight) failures++;
      const said = outcome.complaint ?? `error ${outcome.error.toExponential(1)}`;
      console.log(`${isRight ? 'ok' : 'WRONG'}  ${model.title} on ${kind}: ${said}`);
    }
    rows.push(rowOf(model, { tolerance, devices, outcomes }));
    elsewhere.push(...placementsOf(model, outcomes));
  }
  console.log(`\n${markdown(['model', 'weights', 'tolerance', ...devices], rows)}\n`);
  console.log(elsewhere.length === 0 ? 'Nothing runs elsewhere.' : elsewhere.join('\n'));
  console.log(`\n${models.length} models, ${failures} wrong.`);
  return failures === 0 ? 0 : 1;
}

async function outcomeOf(
  device: Kind,
  model: Uint8Array,
  {
    inputs,
    expected,
  }: { readonly inputs: ModelInputs; readonly expected: Readonly<Record<string, PeerValue>> },
): Promise<Outcome> {
  let placements: readonly Placement[] = [];
  try {
    const gpu =
      device === 'webgpu' ? { gpu: await nodeGpu(), deviceTimeout: DEVICE_TIMEOUT_MS } : {};
    const session = await Session.load(model, { worker: false, device, ...gpu });
    placements = session.placements;
    const outputs = await session.run(inputs);
    await session.dispose();
    const errors = Object.entries(expected).map(([name, output]) => {
      const got = outputs[name];
      if (!(got instanceof Tensor)) throw new Error(`got no tensor ${name}`);
      return relativeError(got, output, name);
    });
    return { device, error: Math.max(...errors), placements };
  } catch (error) {
    return { device, error: Infinity, placements, complaint: String(error) };
  }
}

interface Row {
  readonly tolerance: number;
  readonly devices: readonly Kind[];
  readonly outcomes: readonly Outcome[];
}

function rowOf({ title, license }: RealModel, { tolerance, devices, outcomes }: Row): string[] {
  const cells = devices.map((kind) => {
    const outcome = outcomes.find(({ device }) => device === kind);
    if (outcome === undefined) return 'not run';
    if (outcome.complaint !== undefined) return 'failed';
    const wrong = outcome.error <= tolerance ? '' : ' WRONG';
    return `${outcome.error.toExponential(1)}${wrong}`;
  });
  return [title, license, tolerance.toExponential(1), ...cells];
}

/** Which operators of a model run on another device than it does, and why. */
function placementsOf({ title }: RealModel, outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ device, placements }) => {
    if (placements.length === 0) return [];
    const counts = new Map<string, number>();
    for (const { operator, device: where, reason } of placements) {
      const line = `${operator} on ${where}, because ${reason}`;
      counts.set(line, (counts.get(line) ?? 0) + 1);
    }
    const lines = [...counts].map(([line, count]) => `  ${count} x ${line}`);
    return [`${title} on ${device}:`, ...lines];
  });
}
