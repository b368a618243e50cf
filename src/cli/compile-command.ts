import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { looksLikeExecutable } from '../bytecode/index.ts';
import { UsageError } from '../core/errors.ts';
import { formatBytes } from './format-bytes.ts';
import { compileModel, readBytes } from './read-program.ts';
import { ProgressLine, type Terminal } from './terminal.ts';

export interface CompileFlags {
  readonly output: string;
  readonly dim?: Record<string, number>;
  readonly dump?: boolean;
}

/** `weft compile`: an ONNX model to a `.weft` file. */
export async function compileCommand(
  path: string,
  { output, dim = {}, dump = false }: CompileFlags,
  terminal: Terminal,
): Promise<number> {
  const bytes = await readBytes(path);
  if (looksLikeExecutable(bytes)) {
    throw new UsageError({ where: path, got: 'an executable', expected: 'an .onnx model' });
  }
  const { printModule } = await import('../frontend/index.ts');
  const progress = new ProgressLine(terminal);
  try {
    const executable = await compileModel(bytes, path, {
      dims: dim,
      onProgress: (done, total) => progress.show(`compiling: ${done} of ${total}`),
      ...(dump && {
        dump: (pass, module) => terminal.out(`// after ${pass}\n${printModule(module)}\n`),
      }),
    });
    const file = executable.toBytes();
    await mkdir(dirname(output), { recursive: true });
    await writeFile(output, file);
    progress.clear();
    const { functions, primitives, dataByteLength } = executable;
    terminal.out(
      `${output}: ${formatBytes(file.byteLength)}, ${functions.length} function(s), ` +
        `${primitives.length} kernel(s), ${formatBytes(dataByteLength)} of weights\n`,
    );
    return 0;
  } finally {
    progress.clear();
  }
}
