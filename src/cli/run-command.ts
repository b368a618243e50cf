import {
  type OutputValue,
  type Profile,
  type RunOptions,
  type Session,
  Tensor,
} from '../client/index.ts';
import { UsageError } from '../core/errors.ts';
import { HostTensor } from '../core/host-tensor.ts';
import { firstDifference } from '../core/all-close.ts';
import { checkInputs, requireInputs } from './check-inputs.ts';
import { formatOutput, outputFacts } from './format-output.ts';
import { type OpenFlags, openSession, readInputs, type RunInputs } from './open-session.ts';
import { writeJson } from './report.ts';
import { checkWritable, readTensor, writeTensor } from './tensor-file.ts';
import type { Terminal } from './terminal.ts';

export interface RunFlags extends OpenFlags {
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
