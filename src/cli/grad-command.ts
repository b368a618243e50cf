import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CompileLimits } from '../core/limits/compile-limits.ts';
import { type DType, isDType } from '../core/tensor/dtype.ts';
import { UsageError } from '../core/errors.ts';
import type { TrainingOptions } from '../frontend/index.ts';
import { checkLooksLikeOnnx } from '../core/bytes/sniff.ts';
import { formatBytes } from './format-bytes.ts';
import { readBytes, siblingReader } from './read-file.ts';
import { writeJson } from './report.ts';
import { ProgressLine, type Terminal } from './terminal.ts';
import { writeExecutable } from './write-executable.ts';

export interface GradFlags
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
export async function gradCommand(
  path: string,
  { output, of, lr, targets, dim, limit, memoryBudget, json, ...options }: GradFlags,
  terminal: Terminal,
): Promise<number> {
  const bytes = await readBytes(path);
  checkLooksLikeOnnx(bytes, path);
  const { compile, gradOnnx } = await import('../frontend/index.ts');
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
