import { type LoadProgress, type OutputValue, Session, Tensor } from '../client/index.ts';
import type { ModuleDispatch } from '../compiler/index.ts';
import type { CompileLimits } from '../core/compile-limits.ts';
import { UsageError } from '../core/errors.ts';
import { HostTensor } from '../core/host-tensor.ts';
import { firstDifference } from '../core/all-close.ts';
import { formatBytes } from './format-bytes.ts';
import { formatOutput } from './format-output.ts';
import { isExecutableFile, openExecutable } from './open-executable.ts';
import { readBytes } from './read-file.ts';
import { checkNotCompiled, compileFile } from './read-program.ts';
import { readTensor, writeTensor } from './tensor-file.ts';
import { ProgressLine, type Terminal } from './terminal.ts';

export interface RunFlags {
  readonly input?: Record<string, string>;
  readonly output?: Record<string, string>;
  readonly expect?: Record<string, string>;
  readonly rtol: number;
  readonly atol: number;
  readonly device: 'auto' | 'host' | 'wasm' | 'webgpu';
  readonly threads?: number;
  readonly dim?: Record<string, number>;
  readonly dispatch?: ModuleDispatch;
  readonly limit?: CompileLimits;
  readonly check?: 'indices';
  readonly profile?: boolean;
}

/** `weft run`: loads a program, runs `main` once, prints, writes and compares its outputs. */
export async function runCommand(
  path: string,
  flags: RunFlags,
  terminal: Terminal,
): Promise<number> {
  const progress = new ProgressLine(terminal);
  const program = await readLoadable(path, flags, progress).finally(() => progress.clear());
  const session = await Session.load(program, {
    worker: false,
    device: flags.device,
    ...(flags.threads !== undefined && { threads: flags.threads }),
    onProgress: (report) => progress.show(describe(report)),
  }).finally(() => progress.clear());
  try {
    const { fallbackReason, name } = session.device;
    if (fallbackReason !== undefined) terminal.err(`on ${name}: ${fallbackReason}\n`);
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

/** The bytes that a session loads. It could compile models by itself, but not read the files beside them. */
async function readLoadable(
  path: string,
  { dim, dispatch, limit, check }: RunFlags,
  progress: ProgressLine,
): Promise<Response> {
  if (await isExecutableFile(path)) {
    checkNotCompiled(path, { dim, dispatch, check });
    return openExecutable(path);
  }
  const executable = await compileFile(path, await readBytes(path), {
    dims: dim,
    dispatch,
    compileLimits: limit,
    check,
    onProgress: (loaded, total) => progress.show(describe({ phase: 'compile', loaded, total })),
  });
  return new Response(streamOf(executable.toChunks()));
}

function streamOf(chunks: Iterator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      const next = chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
  });
}

function describe({ phase, loaded, total }: LoadProgress): string {
  const isBytes = phase === 'download' || phase === 'upload';
  const [done, all] = isBytes
    ? [formatBytes(loaded), total === undefined ? '?' : formatBytes(total)]
    : [loaded, total];
  return `${phase}: ${done} of ${all}`;
}

type RunInputs = Record<string, Tensor | number>;

async function readInputs(session: Session, given: Record<string, string>): Promise<RunInputs> {
  const inputs: [string, Tensor | number][] = [];
  for (const [name, value] of Object.entries(given)) {
    const info = session.inputs.find((input) => input.name === name);
    const isScalar = info?.dtype === 'int' || info?.dtype === 'float';
    inputs.push([name, isScalar ? Number(value) : await readTensor(value, info)]);
  }
  return Object.fromEntries(inputs);
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
