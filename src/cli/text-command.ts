import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { CompileLimits } from '../core/compile-limits.ts';
import { checkLooksLikeOnnx } from '../worker/check-looks-like-onnx.ts';
import type { Module } from '../compiler/index.ts';
import { openModelFile } from '../text/open-model-file.ts';
import { formatBytes } from './format-bytes.ts';
import { readBytes, siblingReader } from './read-file.ts';
import type { Terminal } from './terminal.ts';
import { writeExecutable } from './write-executable.ts';

export interface TextFlags {
  readonly output: string;
  readonly context?: number | undefined;
  readonly limit?: CompileLimits | undefined;
}

/** `weft text`: a language model to an executable that generates text. */
export async function textCommand(
  path: string,
  { output, context, limit }: TextFlags,
  terminal: Terminal,
): Promise<number> {
  const { compile } = await import('../frontend/index.ts');
  const module = await moduleOf(path, { context, limit });
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

/** The program, of whichever kind the file is. */
async function moduleOf(
  path: string,
  { context, limit }: Pick<TextFlags, 'context' | 'limit'>,
): Promise<Module> {
  const { generationModule, textModule } = await import('../frontend/index.ts');
  const read = siblingReader(path);
  if (!/\.(gguf|safetensors|safetensors\.index\.json)$/i.test(path)) {
    const bytes = await readBytes(path);
    checkLooksLikeOnnx(bytes, path);
    return textModule(bytes, { compileLimits: limit, externalData: read });
  }
  const files = {
    read: (name: string, begin: number, end: number) =>
      Promise.resolve(read(name, { byteOffset: begin, byteLength: end - begin })),
  };
  const file = await openModelFile(basename(path), files, { contextLength: context });
  return generationModule(await file.load());
}
