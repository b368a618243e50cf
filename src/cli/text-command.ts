import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CompileLimits } from '../core/compile-limits.ts';
import { checkLooksLikeOnnx } from '../worker/check-looks-like-onnx.ts';
import { formatBytes } from './format-bytes.ts';
import { readBytes, siblingReader } from './read-file.ts';
import type { Terminal } from './terminal.ts';
import { writeExecutable } from './write-executable.ts';

export interface TextFlags {
  readonly output: string;
  readonly limit?: CompileLimits;
}

/** `weft text`: a language model in ONNX to an executable that generates text. */
export async function textCommand(
  path: string,
  { output, limit }: TextFlags,
  terminal: Terminal,
): Promise<number> {
  const bytes = await readBytes(path);
  checkLooksLikeOnnx(bytes, path);
  const { compile, textModule } = await import('../frontend/index.ts');
  const module = textModule(bytes, { compileLimits: limit, externalData: siblingReader(path) });
  const executable = compile(module, { compileLimits: limit });
  await mkdir(dirname(output), { recursive: true });
  const byteLength = await writeExecutable(executable, output);
  const { primitives, dataByteLength } = executable;
  terminal.out(
    `${output}: ${formatBytes(byteLength)}, ${primitives.length} kernel(s), ` +
      `${formatBytes(dataByteLength)} of weights\n`,
  );
  return 0;
}
