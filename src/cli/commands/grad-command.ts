import { type Command, Option } from 'commander';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkLooksLikeOnnx } from '../../core/bytes/sniff.ts';
import { UsageError } from '../../core/errors.ts';
import type { CompileLimits } from '../../core/limits/compile-limits.ts';
import { type DType, isDType } from '../../core/tensor/dtype.ts';
import type { TrainingOptions } from '../../frontend/index.ts';
import { formatBytes } from '../format-bytes.ts';
import { memoryBudgetOption, splitNames } from '../parse-options.ts';
import {
  LOSSES,
  OPTIMIZERS,
  parseClip,
  parseCount,
  parseLora,
  parseLoss,
  parseLossScale,
  parseOptimizer,
  parseRate,
  parseSchedule,
  SCHEDULES,
} from '../parse-training.ts';
import { readBytes, siblingReader } from '../files/read-file.ts';
import { writeJson } from '../report.ts';
import { ProgressLine, type Terminal } from '../terminal.ts';
import { writeExecutable } from '../files/write-executable.ts';
import type { CommandParts } from './command-parts.ts';
import { dimsOption, limitOption } from './common-options.ts';

/** Adds the command `weft grad`. */
export function addGradCommand(program: Command, { terminal, run }: CommandParts): void {
  program
    .command('grad')
    .summary('write the program that trains a model')
    .description(
      'Writes an executable that trains an ONNX model: forward pass, loss, derivatives and update as one program.',
    )
    .argument('<file>', 'an .onnx model')
    .requiredOption('-o, --output <file.weft>', 'the output file')
    .requiredOption(
      '--wrt <PATTERN,...>',
      'the initializers to train; * stands for any characters',
      splitNames,
    )
    .addOption(
      new Option('--loss <LOSS[:SETTINGS]>', 'the loss, of an output')
        .argParser(parseLoss)
        .makeOptionMandatory(),
    )
    .option('--of <OUTPUT>', 'the output that the loss is of; default: the first')
    .option('--targets <DTYPE>', 'the dtype of what is wanted; default: int64 for classes')
    .addOption(
      new Option('--optimizer <NAME[:SETTINGS]>', 'default: adamw').argParser(parseOptimizer),
    )
    .addOption(
      new Option('--lr <RATE>', 'the learning rate, or input; default: 0.001').argParser(parseRate),
    )
    .addOption(
      new Option('--schedule <NAME[:SETTINGS]>', 'default: constant').argParser(parseSchedule),
    )
    .addOption(new Option('--clip <norm=N,value=N>', 'limits of gradients').argParser(parseClip))
    .addOption(
      new Option('--loss-scale <N>', 'a factor of the loss, or dynamic').argParser(parseLossScale),
    )
    .addOption(
      new Option('--lora <RANK[:ALPHA]>', 'train factors beside the matrices').argParser(parseLora),
    )
    .addOption(new Option('--batch <N>', 'the first dimension of all inputs').argParser(parseCount))
    .addOption(new Option('--seed <N>', 'of the factors of --lora').argParser(parseCount))
    .addOption(memoryBudgetOption())
    .addOption(dimsOption())
    .addOption(limitOption())
    .addHelpText('after', HELP)
    .action((path: string, flags: GradFlags) => run(gradCommand(path, flags, terminal)));
}

const HELP = `
Examples:
  weft grad model.onnx --loss cross-entropy --wrt '*.weight,*.bias' -o train.weft
  weft grad model.onnx --loss cross-entropy:smoothing=0.1 --wrt '*' --optimizer adamw:decay=0.1 \\
    --lr 3e-4 --schedule cosine:steps=2000,warmup=100 --clip norm=1 --batch 32 -o train.weft
  weft grad llm.onnx --loss output --wrt '*.qkv.*' --lora 8:16 -o train.weft

Losses: ${Object.keys(LOSSES).join(', ')}.
Optimisers: ${Object.keys(OPTIMIZERS).join(', ')}.
Schedules: ${Object.keys(SCHEDULES).join(', ')}.
The functions of the executable, and all settings: docs/training.md.`;

interface GradFlags
  extends Pick<
    TrainingOptions,
    'wrt' | 'loss' | 'optimizer' | 'schedule' | 'clip' | 'lossScale' | 'lora' | 'batch' | 'seed'
  > {
  readonly output: string;
  readonly of?: string;
  readonly lr?: number | 'input';
  readonly targets?: string;
  readonly dim?: Record<string, number>;
  readonly limit?: CompileLimits;
  readonly memoryBudget?: number;
  readonly json?: boolean;
}

/** `weft grad`: an ONNX model to an executable that trains it. */
async function gradCommand(
  path: string,
  { output, of, lr, targets, dim, limit, memoryBudget, json, ...options }: GradFlags,
  terminal: Terminal,
): Promise<number> {
  const bytes = await readBytes(path);
  checkLooksLikeOnnx(bytes, path);
  const { compile, gradOnnx } = await import('../../frontend/index.ts');
  const program = gradOnnx(bytes, {
    ...options,
    output: of,
    rate: lr,
    targets: targets === undefined ? undefined : requireDType(targets),
    dims: dim,
    compileLimits: limit,
    externalData: siblingReader(path),
  });
  await mkdir(dirname(output), { recursive: true });
  const progress = new ProgressLine(terminal);
  const onProgress = (done: number, total: number): void =>
    progress.show(`compiling: ${done} of ${total}`);
  const executable = compile(program.module, { compileLimits: limit, memoryBudget, onProgress });
  const byteLength = await writeExecutable(executable, output);
  progress.clear();
  if (json === true) {
    writeJson(terminal, 'grad', {
      output,
      byteLength,
      functions: executable.functions.length,
      kernels: executable.primitives.length,
      state: program.state.length,
      notes: program.notes,
    });
    return 0;
  }
  for (const note of program.notes) terminal.out(`${note}\n`);
  const { functions, primitives } = executable;
  terminal.out(
    `${output}: ${formatBytes(byteLength)}, ${functions.length} function(s), ` +
      `${primitives.length} kernel(s), ${program.state.length} tensor(s) of state\n`,
  );
  return 0;
}

function requireDType(name: string): DType {
  if (isDType(name)) return name;
  throw new UsageError({ where: '--targets', got: name, expected: 'a dtype, such as int32' });
}
