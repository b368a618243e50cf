import type { Command } from 'commander';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type DeviceTensor, Session, Tensor } from '../../client/index.ts';
import { checkLooksLikeOnnx } from '../../core/bytes/sniff.ts';
import { UsageError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { NamedTensors } from '../../frontend/training/export-onnx.ts';
import { formatBytes } from '../format-bytes.ts';
import { readExecutableFile } from '../files/open-executable.ts';
import { collectPairs } from '../parse-options.ts';
import { readBytes, siblingReader } from '../files/read-file.ts';
import { writeJson } from '../report.ts';
import { readTensor } from '../files/tensor-file.ts';
import type { Terminal } from '../terminal.ts';
import { writeExecutable } from '../files/write-executable.ts';
import type { CommandParts } from './command-parts.ts';

/** Adds the command `weft export`. */
export function addExportCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('export')
    .summary('write trained weights back into their model')
    .description('Writes an .onnx model, or a .weft file of it, with the weights of a training.')
    .argument('<file>', 'the .onnx model that is trained')
    .requiredOption('--training <file.weft>', 'what weft grad made of it')
    .option('--snapshot <file>', 'a snapshot of a session, with the state among its tensors')
    .option('--tensor <NAME=FILE>', 'a weight as .npy, .pb or .json; repeatable', collectPairs)
    .requiredOption('-o, --output <file>', 'an .onnx or a .weft file')
    .action((path: string, flags: ExportFlags) => run(exportCommand(path, flags, terminal)));
}

interface ExportFlags {
  readonly training: string;
  readonly snapshot?: string;
  readonly tensor?: Record<string, string>;
  readonly output: string;
  readonly json?: boolean;
}

type State = Record<string, Tensor | DeviceTensor>;

/** `weft export`: the weights of a training back in their model, as `.onnx` or compiled. */
async function exportCommand(
  path: string,
  flags: ExportFlags,
  terminal: Terminal,
): Promise<number> {
  const model = await readBytes(path);
  checkLooksLikeOnnx(model, path);
  const { compileOnnx, exportOnnx } = await import('../../frontend/index.ts');
  const weights = await trainedWeights(flags);
  const { merged, beside } = split(weights);
  const trained = exportOnnx(model, merged);
  const { output } = flags;
  await mkdir(dirname(output), { recursive: true });
  const byteLength = output.endsWith('.weft')
    ? await writeExecutable(compileOnnx(trained, { externalData: siblingReader(path) }), output)
    : await writeFile(output, trained).then(() => trained.byteLength);
  if (flags.json === true) {
    const names = Object.keys(merged);
    writeJson(terminal, 'export', { output, byteLength, initializers: names, beside });
    return 0;
  }
  for (const name of beside) {
    terminal.out(`${name} belongs beside a matrix of few bits and is not in the model\n`);
  }
  const count = Object.keys(merged).length;
  terminal.out(`${output}: ${formatBytes(byteLength)}, ${count} initializer(s) of the training\n`);
  return 0;
}

/** The results of the function `weights` of the training for a state. */
async function trainedWeights(flags: ExportFlags): Promise<Record<string, HostTensor>> {
  const executable = await readExecutableFile(flags.training);
  const names = namesOf(executable.metadata, flags.training);
  const bytes = executable.toBytes();
  const options = { device: 'host', worker: false } as const;
  const snapshot = flags.snapshot === undefined ? undefined : await readBytes(flags.snapshot);
  const resumed =
    snapshot && (await Session.resume(snapshot, { executable: bytes, paused: true, ...options }));
  const session = resumed ?? (await Session.load(bytes, options));
  try {
    const given: State = { ...(await readTensors(flags.tensor ?? {})) };
    for (const [name, value] of Object.entries(resumed?.resumed.tensors ?? {})) {
      if (isTensor(value)) given[name] = value;
    }
    const missing = names.filter((name) => given[name] === undefined);
    if (missing.length > 0) {
      throw new UsageError({
        where: flags.snapshot ?? '--tensor',
        got: `no tensor ${missing.map((name) => JSON.stringify(name)).join(', ')}`,
        expected: 'all weights of the training',
        remedy: 'Give a snapshot whose tensors have the names of the state, or NAME=FILE for each.',
      });
    }
    if (resumed !== undefined) await session.continue();
    const inputs = Object.fromEntries(names.flatMap((name) => pair(name, given[name])));
    const outputs = await session.run(inputs, { function: 'weights' });
    return Object.fromEntries(
      Object.entries(outputs).map(([name, { dtype, shape, data }]) => [
        name,
        new HostTensor(dtype, shape, data),
      ]),
    );
  } finally {
    await session.dispose();
  }
}

function namesOf(metadata: Readonly<Record<string, string>>, where: string): readonly string[] {
  const text = metadata['training'];
  const names: unknown = text === undefined ? undefined : JSON.parse(text);
  const weights: unknown =
    typeof names === 'object' && names !== null && 'weights' in names ? names.weights : undefined;
  if (Array.isArray(weights) && weights.every((name) => typeof name === 'string')) return weights;
  throw new UsageError({
    where,
    got: 'an executable that trains nothing',
    expected: 'one that weft grad wrote',
  });
}

async function readTensors(files: Record<string, string>): Promise<Record<string, Tensor>> {
  const read = Object.entries(files).map(async ([name, file]) => {
    return [name, await readTensor(file, undefined)] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

function isTensor(value: unknown): value is Tensor | DeviceTensor {
  return (
    value instanceof Tensor || (typeof value === 'object' && value !== null && 'read' in value)
  );
}

function pair(
  name: string,
  value: Tensor | DeviceTensor | undefined,
): [string, Tensor | DeviceTensor][] {
  return value === undefined ? [] : [[name, value]];
}

/** Initializers, and factors of matrices whose codes stay as they are. */
function split(weights: Record<string, HostTensor>): {
  merged: NamedTensors;
  beside: readonly string[];
} {
  const isBeside = (name: string) => /\.lora_[ab]$/.test(name);
  const entries = Object.entries(weights);
  return {
    merged: Object.fromEntries(entries.filter(([name]) => !isBeside(name))),
    beside: entries.flatMap(([name]) => (isBeside(name) ? [name] : [])),
  };
}
