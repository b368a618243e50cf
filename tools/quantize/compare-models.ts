import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { main as weft } from '../../src/cli/main.ts';
import { ValueErrorSum } from '../../src/cli/quantize/value-error.ts';
import { Session, Tensor } from '../../src/client/index.ts';
import { HostTensor } from '../../src/core/tensor/host-tensor.ts';
import { sharedPath } from '../../src/testing/files/shared-path.ts';
import { runCommand } from '../run-command.ts';
import { openPeerModel, type PeerModel } from '../onnxruntime/open-onnxruntime.ts';
import { inputOf, type ModelInputs, TRAINED_MODELS, type TrainedModel } from './trained-models.ts';

/** Inputs for which Weft itself is compared with onnxruntime-node: each step of it may round otherwise. */
const IN_WEFT = 3;
const WANTED_COSINE = 0.999;
const WANTED_TOP = 0.99;
/** The largest difference of both runtimes, relative to the range of an output. */
const SAME = 1e-5;

interface Options {
  readonly count: string;
  readonly flags: string;
}

/** Quantises the trained models of ../shared/models and compares them with the float ones, in onnxruntime-node. */
export async function main(args: readonly string[]): Promise<number> {
  const command = new Command('quantize')
    .description('Compares quantised models with float ones, and Weft with onnxruntime-node.')
    .argument('[names...]', 'models; default: all')
    .option('--count <number>', 'inputs of each model', '500')
    .option('--flags <words>', 'of weft quantize', '');
  return runCommand(command, args, () => compareAll(command.args, command.opts<Options>()));
}

async function compareAll(names: readonly string[], { count, flags }: Options): Promise<number> {
  const models = TRAINED_MODELS.filter(({ name }) => names.length === 0 || names.includes(name));
  const folder = mkdtempSync(join(tmpdir(), 'weft-quantize-'));
  let isRight = models.length > 0;
  try {
    for (const model of models) {
      const words = flags.split(' ').filter((word) => word !== '');
      const holds = await compareModel(model, { folder, words, count: Number(count) });
      isRight &&= holds;
    }
    return isRight ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Comparing {
  readonly folder: string;
  readonly words: readonly string[];
  readonly count: number;
}

async function compareModel(
  model: TrainedModel,
  { folder, words, count }: Comparing,
): Promise<boolean> {
  const file = sharedPath(`models/${model.name}/model.onnx`);
  const output = join(folder, `${model.name}.onnx`);
  const dims = (model.dims ?? []).flatMap((dim) => ['--dim', dim]);
  const told: string[] = [];
  const terminal = {
    out: (text: string) => void told.push(text),
    err: (text: string) => void told.push(text),
    isInteractive: false,
  };
  const status = await weft(['quantize', file, '-o', output, ...dims, ...words], terminal);
  const lines = told.join('').split('\n');
  const [bytes, float] = [readFileSync(output), readFileSync(file)];
  const kept = lines.filter((line) => /cosine below|passed through/.test(line));
  console.log(
    `${model.name}: weft quantize ended with ${status}; ${float.byteLength} to ${bytes.byteLength} bytes${kept.map((line) => `; ${line}`).join('')}`,
  );
  const [tested, expected] = [await openPeerModel(bytes), await openPeerModel(float)];
  const sums = [...(await addUp(model, { tested, expected, count }))];
  if (model.carries !== undefined) {
    const carried = await addUp(model, { tested, expected, count, carries: model.carries });
    for (const [name, sum] of carried) sums.push([`${name}, carried on`, sum]);
  }
  const apart = await distanceOfWeft(model, bytes, tested);
  await Promise.all([tested.release(), expected.release()]);
  let holds =
    status === 0 && apart <= (kept.some((line) => line.includes('passed')) ? Infinity : SAME);
  for (const [name, sum] of sums) {
    const { cosine, worstCosine, largestError, sameTop } = sum.total;
    const top = name === model.classes ? sameTop : undefined;
    const isNear = Math.min(cosine, worstCosine) >= WANTED_COSINE && (top ?? 1) >= WANTED_TOP;
    holds &&= isNear;
    console.log(
      `  ${name}: cosine ${cosine.toFixed(6)}, at worst ${worstCosine.toFixed(6)}, off by ${(100 * largestError).toFixed(2)}%` +
        `${top === undefined ? '' : `, same class ${(100 * top).toFixed(2)}%`}${isNear ? '' : ' NOT NEAR ENOUGH'}`,
    );
  }
  console.log(
    `  Weft is off onnxruntime-node by ${apart.toExponential(1)} of the range of an output`,
  );
  return holds;
}

interface AddingUp {
  readonly tested: PeerModel;
  readonly expected: PeerModel;
  readonly count: number;
  /** Each model gets what it gave itself in the step before, at first zeros. */
  readonly carries?: TrainedModel['carries'];
}

async function addUp(
  model: TrainedModel,
  { tested, expected, count, carries = {} }: AddingUp,
): Promise<ReadonlyMap<string, ValueErrorSum>> {
  const sums = new Map<string, ValueErrorSum>();
  const zeros = Object.fromEntries(
    Object.values(carries).map((name) => {
      const { dtype = 'float32', shape = [] } = inputOf(model, 0)[name] ?? {};
      return [name, HostTensor.zeros(dtype, shape)];
    }),
  );
  let [mine, theirs] = [zeros, zeros];
  for (let index = 0; index < count; index++) {
    const inputs = inputOf(model, index);
    const got = await tested.run({ ...inputs, ...mine });
    const wanted = await expected.run({ ...inputs, ...theirs });
    [mine, theirs] = [got, wanted].map((outputs) =>
      Object.fromEntries(
        Object.entries(carries).flatMap(([from, to]) => {
          const value = outputs[from];
          return value === undefined ? [] : [[to, value]];
        }),
      ),
    ) as [ModelInputs, ModelInputs];
    for (const [name, want] of Object.entries(wanted)) {
      const sum = sums.get(name) ?? new ValueErrorSum();
      sums.set(name, sum);
      sum.add(tensorOf(got[name] ?? want), tensorOf(want));
    }
  }
  return sums;
}

const tensorOf = ({ dtype, data, shape }: HostTensor): Tensor => new Tensor(dtype, data, shape);

/** The largest distance of an element, relative to the range of its output. */
async function distanceOfWeft(
  model: TrainedModel,
  bytes: Uint8Array,
  peer: PeerModel,
): Promise<number> {
  const session = await Session.load(bytes.slice(), { device: 'wasm', worker: false });
  let worst = 0;
  for (let index = 0; index < IN_WEFT; index++) {
    const inputs = inputOf(model, index);
    const given = Object.entries(inputs).map(([name, tensor]) => [name, tensorOf(tensor)] as const);
    const [mine, theirs] = [await session.run(Object.fromEntries(given)), await peer.run(inputs)];
    for (const [name, want] of Object.entries(theirs)) {
      const sum = new ValueErrorSum();
      sum.add(mine[name] as Tensor, tensorOf(want));
      worst = Math.max(worst, sum.total.largestError);
    }
  }
  await session.dispose();
  return worst;
}
