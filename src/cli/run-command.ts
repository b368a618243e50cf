import { type OutputValue, type Session, Tensor } from '../client/index.ts';
import { UsageError } from '../core/errors.ts';
import { HostTensor } from '../core/host-tensor.ts';
import { firstDifference } from '../core/all-close.ts';
import { formatOutput } from './format-output.ts';
import { type OpenFlags, openSession, readInputs, type RunInputs } from './open-session.ts';
import { readTensor, writeTensor } from './tensor-file.ts';
import type { Terminal } from './terminal.ts';

export interface RunFlags extends OpenFlags {
  readonly input?: Record<string, string>;
  readonly output?: Record<string, string>;
  readonly expect?: Record<string, string>;
  readonly rtol: number;
  readonly atol: number;
  readonly profile?: boolean;
}

/** `weft run`: loads a program, runs `main` once, prints, writes and compares its outputs. */
export async function runCommand(
  path: string,
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  const session = await openSession(path, flags, terminal);
  try {
    const inputs = await readInputs(session, flags.input ?? {});
    const outputs = flags.profile
      ? await profiled(session, inputs, terminal)
      : await session.run<OutputValue>(inputs);
    for (const [output, value] of Object.entries(outputs)) {
      terminal.out(formatOutput(output, value));
    }
    await writeOutputs(outputs, flags.output ?? {});
    return await compare(outputs, flags, terminal);
  } finally {
    await session.dispose();
  }
}

async function profiled(
  session: Session,
  inputs: RunInputs,
  terminal: Terminal,
): Promise<Record<string, OutputValue>> {
  // The first run plans; what is measured is the second.
  await session.run(inputs);
  const { kernels, totalMs, instructions, outputs } = await session.profile(inputs);
  for (const { primitive, label, workgroups, durationMs } of kernels) {
    const time = durationMs === undefined ? '' : `${durationMs.toFixed(3)} ms`;
    const columns = [time.padStart(12), label.padEnd(24), workgroups.join('x').padEnd(12)];
    terminal.out(`${columns.join('  ')}  ${primitive}\n`);
  }
  terminal.out(
    `${totalMs.toFixed(3)} ms, ${instructions} instructions, ${kernels.length} launches on ` +
      `${session.device.name}\n`,
  );
  return outputs;
}

async function writeOutputs(
  outputs: Record<string, OutputValue>,
  files: Record<string, string>,
): Promise<void> {
  for (const [name, path] of Object.entries(files)) {
    await writeTensor(path, tensorNamed(outputs, name));
  }
}

async function compare(
  outputs: Record<string, OutputValue>,
  { expect = {}, rtol, atol }: RunFlags,
  terminal: Terminal,
): Promise<number> {
  let status = 0;
  for (const [name, path] of Object.entries(expect)) {
    const actual = toHost(tensorNamed(outputs, name));
    const expected = toHost(await readTensor(path, undefined));
    const difference = firstDifference(actual, expected, { rtol, atol });
    if (difference !== undefined) status = 1;
    const verdict = difference ?? `as expected (rtol ${rtol}, atol ${atol})`;
    terminal.out(`${name}: ${verdict}\n`);
  }
  return status;
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
