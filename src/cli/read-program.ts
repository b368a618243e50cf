import { readFile } from 'node:fs/promises';
import { Executable, looksLikeExecutable } from '../bytecode/index.ts';
import type { CompileOptions, Module } from '../compiler/index.ts';
import { UsageError } from '../core/errors.ts';
import { checkLooksLikeOnnx } from '../worker/check-looks-like-onnx.ts';

/** A file's bytes. Throws UsageError when it cannot be read. */
export async function readBytes(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw new UsageError(
      { where: path, got: READ_FAULTS[code] ?? code, expected: 'a file that can be read' },
      { cause },
    );
  }
}

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'a folder',
  EACCES: 'no permission',
};

/** The executable of a `.weft` file, or of a model or a program in text form after compiling it. */
export async function readProgram(path: string, options: CompileOptions): Promise<Executable> {
  const bytes = await readBytes(path);
  if (looksLikeExecutable(bytes)) return Executable.fromBytes(bytes);
  return compileFile(path, bytes, options);
}

/**
 * Compiles an ONNX model, or a program in text form. The compiler is loaded only when there is
 * something to compile.
 */
export async function compileFile(
  path: string,
  bytes: Uint8Array,
  options: CompileOptions,
): Promise<Executable> {
  const { compile, compileOnnx } = await import('../frontend/index.ts');
  if (!looksLikeText(path, bytes)) {
    checkLooksLikeOnnx(bytes, path);
    return compileOnnx(bytes, options);
  }
  const { module, texts } = await parseFile(path, bytes);
  return compile(module, { ...options, texts });
}

/** A module with the texts that its spans refer to. */
export interface ReadModule {
  readonly module: Module;
  readonly texts: ReadonlyMap<string, string>;
}

/** The module of a program in text form, or of an ONNX model as it is imported. */
export async function readModule(path: string, dims?: Record<string, number>): Promise<ReadModule> {
  const bytes = await readBytes(path);
  if (looksLikeText(path, bytes)) return parseFile(path, bytes);
  if (looksLikeExecutable(bytes)) {
    const expected = 'a program in text form or an .onnx model';
    throw new UsageError({ where: path, got: 'an executable', expected });
  }
  checkLooksLikeOnnx(bytes, path);
  const { importOnnx } = await import('../frontend/index.ts');
  return { module: importOnnx(bytes, { dims }), texts: new Map() };
}

async function parseFile(path: string, bytes: Uint8Array): Promise<ReadModule> {
  const { parseModule } = await import('../frontend/index.ts');
  const text = new TextDecoder().decode(bytes);
  return { module: parseModule(text, { file: path }), texts: new Map([[path, text]]) };
}

/** How a program in text form begins, comments and blanks left out. */
const TEXT_START = /^\s*(?:def\s+@|type\s+\w+[^]*?\{|meta\[\d+\]:|metadata\s*\{)/;
const COMMENTS = /\/\/[^\n]*|\/\*[^]*?\*\//g;
/** More than any comment before the first definition. */
const LOOKED_AT = 4096;

/** Whether a file is a program in text form: by its name, or by how it begins. */
export function looksLikeText(path: string, bytes: Uint8Array): boolean {
  if (path.endsWith('.ir')) return true;
  const head = new TextDecoder().decode(bytes.subarray(0, LOOKED_AT));
  return TEXT_START.test(head.replaceAll(COMMENTS, ''));
}
