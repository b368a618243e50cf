import type { Command } from 'commander';
import {
  type OutputValue,
  type Profile,
  type RunOptions,
  type Session,
  Tensor,
} from '../../client/index.ts';
import { UsageError } from '../../core/errors.ts';
import { firstDifference } from '../../core/tensor/all-close.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { checkInputs, requireInputs } from '../check-inputs.ts';
import { type OpenFlags, openSession, readInputs, type RunInputs } from '../open-session.ts';
import { collectPairs, positiveNumber, threadsOption } from '../parse-options.ts';
import { writeJson } from '../report.ts';
import { checkWritable, readTensor, writeTensor } from '../files/tensor-file.ts';
import type { Terminal } from '../terminal.ts';
import type { CommandParts } from './command-parts.ts';
import {
  deviceOption,
  dimsOption,
  dispatchOption,
  indexCheckOption,
  limitOption,
} from './common-options.ts';

/** Adds the command `weft run`. */
export function addRunCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('run')
    .summary('run a program once')
    .description('Runs the function main of a .weft, .onnx or .ir file and prints its outputs.')
    .argument('<file>', 'a .weft, .onnx or .ir file')
    .option(
      '-i, --input <NAME=FILE>',
      'a .pb, .npy or .json file (a number for an int or float input); repeatable',
      collectPairs,
    )
    .option(
      '-o, --output <NAME=FILE>',
      'write an output as .npy or .json; repeatable',
      collectPairs,
    )
    .option(
      '--expect <NAME=FILE>',
      'compare an output with a .pb, .npy or .json file; repeatable',
      collectPairs,
    )
    .option('--function <name>', 'the function to run; default: main')
    .option('--rtol <number>', 'relative tolerance of --expect', positiveNumber, 1e-3)
    .option('--atol <number>', 'absolute tolerance of --expect', positiveNumber, 1e-5)
    .addOption(deviceOption('the device to run on', ['browser']))
    .addOption(threadsOption())
    .addOption(dimsOption())
    .addOption(dispatchOption())
    .addOption(limitOption())
    .addOption(indexCheckOption())
    .option('--profile', 'run twice and print the kernels of the second run with their times')
    .addHelpText('after', HELP)
    .action((path: string, flags: RunFlags) => run(runCommand(path, flags, terminal)));
}

const HELP = `
Examples:
  weft run mnist.weft --input Input3=digit.npy
  weft run mnist.onnx --input Input3=input_0.pb --expect Plus214_Output_0=output_0.pb
  weft run mnist.weft --input Input3=digit.json --output Plus214_Output_0=logits.npy
  weft run life.weft --input board=board.npy --input steps=100 --profile

Devices: webgpu needs the package "webgpu" (npm install webgpu) and takes any adapter; auto takes
it where it finds graphics hardware and says so when it does not; host needs nothing and is slow; browser
starts a Chrome, Chromium or Edge without a window, the one that WEFT_BROWSER names or one that is found.`;

const MAX_LISTED = 64;
const TOP_COUNT = 5;
const FIRST_COUNT = 6;

/** An output as text of a few lines: type, elements or a summary, and the largest of a vector. */
function formatOutput(name: string, value: OutputValue): string {
  if (!(value instanceof Tensor)) return `${name}: ${JSON.stringify(value)}\n`;
  const lines = [`${name}: ${value.dtype} [${value.shape.join(', ')}]`];
  const numbers = Array.from(flat(value));
  lines.push(numbers.length <= MAX_LISTED ? listed(value) : summary(numbers));
  const isVector = numbers.length === value.shape.at(-1) && numbers.length > 2;
  if (isVector && value.dtype.startsWith('float')) lines.push(top(numbers));
  return `${lines.join('\n')}\n`;
}

/** An output as plain data: its type, its elements where they are few, and what sums them up. */
function outputFacts(name: string, value: OutputValue): object {
  if (!(value instanceof Tensor)) return { name, value };
  const { dtype, shape } = value;
  const numbers = flat(value);
  if (numbers.length <= MAX_LISTED) return { name, dtype, shape, elements: numbers };
  return { name, dtype, shape, ...summed(numbers), begins: numbers.slice(0, FIRST_COUNT) };
}

function flat(tensor: Tensor): number[] {
  const { dtype, data } = tensor;
  const vector = new Tensor(dtype, data, [data.length]).toNested();
  return Array.isArray(vector) ? vector.map(Number) : [];
}

function listed(tensor: Tensor): string {
  const text = JSON.stringify(tensor.toNested(), (_key, value: unknown) => {
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'number' ? Number(value.toPrecision(6)) : value;
  });
  return `  ${text.replaceAll(',', ', ')}`;
}

function summed(numbers: readonly number[]): { min: number; max: number; mean: number } {
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  for (const value of numbers) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
  }
  return { min, max, mean: sum / numbers.length };
}

function summary(numbers: readonly number[]): string {
  const { min, max, mean } = summed(numbers);
  const first = numbers.slice(0, FIRST_COUNT).map(short).join(', ');
  return `  min ${short(min)}, max ${short(max)}, mean ${short(mean)}; begins ${first}, …`;
}

function top(numbers: readonly number[]): string {
  const order = Array.from(numbers, (value, index) => ({ value, index }));
  order.sort((a, b) => b.value - a.value);
  const best = order.slice(0, TOP_COUNT).map(({ value, index }) => `[${index}] ${short(value)}`);
  return `  largest: ${best.join(', ')}`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}

interface RunFlags extends OpenFlags {
  readonly input?: Record<string, string>;
  readonly output?: Record<string, string>;
  readonly expect?: Record<string, string>;
  readonly rtol: number;
  readonly atol: number;
  readonly profile?: boolean;
  readonly json?: boolean;
}

/** `weft run`: loads a program, runs a function once, prints, writes and compares its outputs. */
export async function runCommand(
  path: string,
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  const { input = {}, output: files = {}, expect = {}, json = false, function: name } = flags;
  // Before the compiler begins: whatever is wrong with files is said at once.
  await checkInputs(path, input, { ...flags, needsAll: true });
  for (const file of Object.values(files)) await checkWritable(file);
  const expected = await readExpected(expect);
  const { session, close } = await openSession(path, flags, terminal);
  try {
    const inputs = await readInputs(session, input, name);
    if (name === undefined) requireInputs(session.inputs, inputs);
    const options = name === undefined ? {} : { function: name };
    const profile = flags.profile ? await profiled(session, inputs, options) : undefined;
    const outputs = profile?.outputs ?? (await session.run<OutputValue>(inputs, options));
    await writeOutputs(outputs, files);
    const comparisons = compare(outputs, expected, flags);
    const status = comparisons.every(({ difference }) => difference === undefined) ? 0 : 1;
    if (json) {
      writeJson(terminal, 'run', {
        device: session.device.name,
        outputs: Object.entries(outputs).map(([output, value]) => outputFacts(output, value)),
        comparisons,
        ...(profile && { profile: { ...profile, outputs: undefined } }),
      });
      return status;
    }
    if (profile !== undefined) terminal.out(describeProfile(profile, session));
    for (const [output, value] of Object.entries(outputs)) {
      terminal.out(formatOutput(output, value));
    }
    for (const { output, difference } of comparisons) {
      const verdict = difference ?? `as expected (rtol ${flags.rtol}, atol ${flags.atol})`;
      terminal.out(`${output}: ${verdict}\n`);
    }
    return status;
  } finally {
    await close();
  }
}

async function profiled(
  session: Session,
  inputs: RunInputs,
  options: RunOptions,
): Promise<Profile> {
  // The first run plans; what is measured is the second.
  await session.run(inputs, options);
  return session.profile(inputs, options);
}

function describeProfile({ kernels, totalMs, instructions }: Profile, { device }: Session): string {
  const lines = kernels.map(({ primitive, label, workgroups, durationMs }) => {
    const time = durationMs === undefined ? '' : `${durationMs.toFixed(3)} ms`;
    const columns = [time.padStart(12), label.padEnd(24), workgroups.join('x').padEnd(12)];
    return `${columns.join('  ')}  ${primitive}\n`;
  });
  const total = `${totalMs.toFixed(3)} ms, ${instructions} instructions, ${kernels.length} launches on ${device.name}\n`;
  return `${lines.join('')}${total}`;
}

async function writeOutputs(
  outputs: Record<string, OutputValue>,
  files: Record<string, string>,
): Promise<void> {
  for (const [name, path] of Object.entries(files)) {
    await writeTensor(path, tensorNamed(outputs, name));
  }
}

async function readExpected(
  files: Record<string, string>,
): Promise<readonly (readonly [output: string, expected: Tensor])[]> {
  const all: (readonly [string, Tensor])[] = [];
  for (const [output, path] of Object.entries(files)) {
    all.push([output, await readTensor(path, undefined)]);
  }
  return all;
}

/** An output beside what it should be; without a difference it is as expected. */
interface Comparison {
  readonly output: string;
  readonly difference: string | undefined;
}

function compare(
  outputs: Record<string, OutputValue>,
  expected: readonly (readonly [output: string, expected: Tensor])[],
  { rtol, atol }: RunFlags,
): readonly Comparison[] {
  return expected.map(([output, tensor]) => {
    const actual = toHost(tensorNamed(outputs, output));
    return { output, difference: firstDifference(actual, toHost(tensor), { rtol, atol }) };
  });
}

function toHost({ dtype, shape, data }: Tensor): HostTensor {
  return new HostTensor(dtype, shape, data);
}

function tensorNamed(outputs: Record<string, OutputValue>, name: string): Tensor {
  const value = outputs[name];
  if (value instanceof Tensor) return value;
  throw new UsageError({
    where: `output "${name}"`,
    got: value === undefined ? 'no such output' : 'an output that is not a tensor',
    expected: `one of ${Object.keys(outputs).join(', ')}`,
  });
}
