import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { CompileLimits } from '../core/compile-limits.ts';
import { checkLooksLikeOnnx } from '../core/check-looks-like-onnx.ts';
import type { Module } from '../compiler/index.ts';
import { folderFiles } from '../text/gguf-folder.ts';
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
  const folder = dirname(output);
  const { module, files } = await openModel(path, { context, limit, folder });
  const executable = compile(module, { compileLimits: limit });
  await mkdir(folder, { recursive: true });
  const byteLength = await writeExecutable(executable, output);
  const { primitives, dataByteLength } = executable;
  terminal.out(
    `${output}: ${formatBytes(byteLength)}, ${primitives.length} kernel(s), ` +
      `${formatBytes(dataByteLength)} of weights\n`,
  );
  for (const [name, text] of files)
    terminal.out(await writeMissing(join(folder, name), text, path));
  return 0;
}

/** Writes a small file that is not there yet, and says so. */
async function writeMissing(file: string, text: string, path: string): Promise<string> {
  if (existsSync(file)) return `${file}: left as it was\n`;
  await writeFile(file, text);
  return `${file}: ${formatBytes(Buffer.byteLength(text))}, as ${basename(path)} says\n`;
}

interface OpenedModel {
  readonly module: Module;
  /** What lies beside the executable, by name. */
  readonly files: ReadonlyMap<string, string>;
}

interface OpenModelOptions extends Pick<TextFlags, 'context' | 'limit'> {
  /** Where the executable is to be. */
  readonly folder: string;
}

/** The program, of whichever kind the file is, and the small files that a GGUF file makes unnecessary. */
async function openModel(
  path: string,
  { context, limit, folder }: OpenModelOptions,
): Promise<OpenedModel> {
  const { generationModule, textModule } = await import('../frontend/index.ts');
  const read = siblingReader(path);
  if (!/\.(gguf|safetensors|safetensors\.index\.json)$/i.test(path)) {
    const bytes = await readBytes(path);
    checkLooksLikeOnnx(bytes, path);
    const module = textModule(bytes, { compileLimits: limit, externalData: read });
    return { module, files: new Map() };
  }
  const files = {
    read: (name: string, begin: number, end: number) =>
      Promise.resolve(read(name, { byteOffset: begin, byteLength: end - begin })),
  };
  const file = await openModelFile(basename(path), files, { contextLength: context });
  // Before the weights, since it may refuse. A tokenizer of the user's own takes its place.
  const isThere = (name: string): boolean => existsSync(join(folder, name));
  const isWhole = isThere('tokenizer.json') && isThere('config.json');
  const small = isWhole ? undefined : file.folder();
  const beside = small ? folderFiles(small) : isWhole ? kept(path) : new Map<string, string>();
  return { module: generationModule(await file.load()), files: beside };
}

/** Files of the user's to be named, where GGUF would have given others. */
function kept(path: string): ReadonlyMap<string, string> {
  const names = /\.gguf$/i.test(path) ? ['config.json', 'tokenizer.json'] : [];
  return new Map(names.map((name) => [name, '']));
}
